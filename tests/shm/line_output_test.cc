// SPDX-License-Identifier: Apache-2.0
#include "shm/line_output.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "shm/file_descriptor.h"

namespace vitrine::shm {
namespace {

struct Pipe {
  FileDescriptor read_end;
  FileDescriptor write_end;

  Pipe() {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    read_end = FileDescriptor(ends[0]);
    write_end = FileDescriptor(ends[1]);
    REQUIRE(::fcntl(read_end.number(), F_SETFL, O_NONBLOCK) == 0);
  }

  std::string take_all() const {
    std::string taken;
    char bytes[65536];
    for (ssize_t size = 0; (size = ::read(read_end.number(), bytes, sizeof bytes)) > 0;) {
      taken.append(bytes, static_cast<std::size_t>(size));
    }
    return taken;
  }
};

std::string loss_line(std::uint64_t lost) { return std::to_string(lost) + " lost\n"; }

}  // namespace

TEST_CASE("a pipe that nobody reads loses lines, says how many, and never blocks") {
  const Pipe pipe;
  LineOutput output(pipe.write_end.number(), loss_line);
  const std::string line = std::string(1000, 'x') + "\n";
  int lines = 0;
  while (output.lost() < 3) {
    output.write(line);
    ++lines;
  }
  const std::string first = pipe.take_all();
  CHECK(first.size() == static_cast<std::size_t>(lines - 3) * line.size());
  output.write("next\n");
  CHECK(pipe.take_all() == "3 lost\nnext\n");
  CHECK(output.lost() == 0);
}

TEST_CASE("a line is cut to what a pipe takes at once") {
  const Pipe pipe;
  LineOutput output(pipe.write_end.number(), loss_line);
  output.write(std::string(LineOutput::kLineBytesMax + 1, 'x') + "\n");
  const std::string taken = pipe.take_all();
  CHECK(taken.size() == LineOutput::kLineBytesMax);
  CHECK(taken.find('\n') == taken.size() - 1);
}

TEST_CASE("a terminal that nobody reads loses lines and never blocks") {
  const FileDescriptor reader(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!reader.is_open()) {
    WARN("not tested: this host has no pseudo-terminals");
    return;
  }
  REQUIRE(::grantpt(reader.number()) == 0);
  REQUIRE(::unlockpt(reader.number()) == 0);
  const FileDescriptor terminal(
      ::open(::ptsname(reader.number()), O_WRONLY | O_NOCTTY | O_CLOEXEC));
  REQUIRE(terminal.is_open());
  LineOutput output(terminal.number(), loss_line);
  const std::string line = std::string(100, 'x') + "\n";
  while (output.lost() < 3) output.write(line);
  CHECK((::fcntl(terminal.number(), F_GETFL) & O_NONBLOCK) == 0);
  REQUIRE(::fcntl(reader.number(), F_SETFL, O_NONBLOCK) == 0);
  std::string taken;
  char bytes[4096];
  for (bool is_told = false; !is_told; is_told = taken.find("last") != std::string::npos) {
    const ssize_t size = ::read(reader.number(), bytes, sizeof bytes);
    if (size > 0) taken.append(bytes, static_cast<std::size_t>(size));
    if (size <= 0) output.write("last\n");
  }
  CHECK(taken.find(" lost\r\n") != std::string::npos);
  CHECK(taken.find("x"
                   "lost") == std::string::npos);
}

TEST_CASE("a closed pipe loses the line") {
  Pipe pipe;
  LineOutput output(pipe.write_end.number(), loss_line);
  pipe.read_end = FileDescriptor();
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  output.write("nobody\n");
  ::signal(SIGPIPE, before);
  CHECK(output.lost() == 1);
}

}  // namespace vitrine::shm
