// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/segment_watch.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace vitrine::engine::testing {
namespace {

constexpr std::string_view kAttached = "attached\n";
constexpr std::string_view kCount = "snapshots ";

std::array<int, 2> make_pipe() {
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  return ends;
}

}  // namespace

SegmentWatch::SegmentWatch(const std::filesystem::path& segment) {
  const std::array<int, 2> input = make_pipe();
  const std::array<int, 2> output = make_pipe();
  child_ = ::fork();
  if (child_ == 0) {
    ::dup2(input[0], STDIN_FILENO);
    ::dup2(output[1], STDOUT_FILENO);
    ::execl(VITRINE_BIN "/segment_watch", "segment_watch", segment.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(input[0]);
  ::close(output[1]);
  input_ = input[1];
  output_ = output[0];
  std::string greeting(kAttached.size(), '\0');
  std::size_t length = 0;
  while (length < greeting.size()) {
    const ssize_t count = ::read(output_, greeting.data() + length, greeting.size() - length);
    if (count <= 0) break;
    length += static_cast<std::size_t>(count);
  }
  if (child_ < 0 || greeting != kAttached) {
    stop();
    throw std::runtime_error("the watch of " + segment.string() + " did not begin: " + greeting);
  }
}

std::vector<std::string> SegmentWatch::read_lines_until_end() {
  std::string text;
  std::array<char, 4096> bytes;
  for (ssize_t count = 0; (count = ::read(output_, bytes.data(), bytes.size())) > 0;) {
    text.append(bytes.data(), static_cast<std::size_t>(count));
  }
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> SegmentWatch::stop() {
  if (input_ < 0) return violations_;
  ::close(std::exchange(input_, -1));
  violations_ = read_lines_until_end();
  ::close(std::exchange(output_, -1));
  ::waitpid(child_, nullptr, 0);
  if (!violations_.empty() && violations_.back().starts_with(kCount)) {
    snapshots_ = std::stoull(violations_.back().substr(kCount.size()));
    violations_.pop_back();
  } else {
    violations_.push_back("the watch died");
  }
  return violations_;
}

}  // namespace vitrine::engine::testing
