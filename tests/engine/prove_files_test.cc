// SPDX-License-Identifier: Apache-2.0
// What vitrine-prove writes to: files, links, devices, pipes, and what it refuses.
#include "engine/prove_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <future>

#include "tests/engine/container_bytes.h"
#include "tests/engine/real_inputs.h"
#include "tests/scratch_folder.h"

namespace vitrine::engine::testing {
namespace {

using Catch::Matchers::Contains;

class Proving {
 public:
  std::string file(const std::string& name) const { return (scratch_ / name).string(); }

  // The exit code of proving the multiplier into these files.
  int prove(const std::string& proof, const std::string& inputs,
            const std::string& redirection = "") const {
    const auto folder = circuit_folder("bn128", "multiplier");
    const std::string command = std::string(VITRINE_BIN) + "/vitrine-prove " +
                                (folder / "circuit.zkey").string() + " " +
                                (folder / "witness.1.wtns").string() + " " + proof + " " + inputs +
                                " --quiet 2>" + file("stderr") + " " + redirection;
    return WEXITSTATUS(std::system(command.c_str()));
  }
  std::string errors() const { return read_file(file("stderr")); }

  // A node like /dev/null or /dev/full; false where none can be made.
  bool make_device(const std::string& name, unsigned minor) const {
    const std::string path = file(name);
    const bool is_made = ::mknod(path.c_str(), S_IFCHR | 0600, makedev(1, minor)) == 0 &&
                         std::ofstream(path).is_open();
    if (!is_made) WARN("not tested: device nodes cannot be made here");
    return is_made;
  }

 private:
  ScratchFolder scratch_;
};

bool is_device(const std::string& path) { return std::filesystem::is_character_file(path); }

std::optional<std::string> settled(std::vector<std::string> positions) {
  ProveFiles files;
  files.positions = std::move(positions);
  return settle_files(files);
}

}  // namespace

TEST_CASE("a proof into devices goes into them, and they stay devices") {
  const Proving proving;
  constexpr unsigned kNull = 3;
  constexpr unsigned kFull = 7;
  if (!proving.make_device("null", kNull) || !proving.make_device("full", kFull)) return;
  CHECK(proving.prove(proving.file("null"), proving.file("null")) == 0);
  CHECK(is_device(proving.file("null")));
  CHECK(proving.prove(proving.file("full"), proving.file("public.json")) == 1);
  CHECK_THAT(proving.errors(), Contains("full: cannot be written: No space left"));
  CHECK(is_device(proving.file("full")));
}

TEST_CASE("a proof into a pipe reaches its reader") {
  const Proving proving;
  const std::string pipe = proving.file("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  auto read = std::async(std::launch::async, [&] { return read_file(pipe); });
  CHECK(proving.prove(pipe, proving.file("public.json")) == 0);
  CHECK_THAT(read.get(), Contains("pi_a"));
  CHECK(std::filesystem::is_fifo(pipe));
}

TEST_CASE("a proof behind a link replaces the file that the link names") {
  const Proving proving;
  std::filesystem::create_directory(proving.file("d"));
  std::ofstream(proving.file("d/old.json")) << "old";
  std::filesystem::create_symlink("d/old.json", proving.file("there"));
  std::filesystem::create_symlink("d/new.json", proving.file("dangling"));
  CHECK(proving.prove(proving.file("there"), proving.file("dangling")) == 0);
  CHECK(std::filesystem::is_symlink(proving.file("there")));
  CHECK(std::filesystem::is_symlink(proving.file("dangling")));
  CHECK_THAT(read_file(proving.file("d/old.json")), Contains("pi_a"));
  CHECK(std::filesystem::is_regular_file(proving.file("d/new.json")));
}

TEST_CASE("a proof to standard output leaves what was there before it") {
  const Proving proving;
  const std::string out = proving.file("out");
  std::ofstream(out) << "before\n";
  // As /dev/stdout is, which no test may put at risk.
  std::filesystem::create_symlink("/proc/self/fd/1", proving.file("stdout"));
  CHECK(proving.prove(proving.file("stdout"), proving.file("public.json"), ">>" + out) == 0);
  CHECK_THAT(read_file(out), Catch::StartsWith("before\n") && Contains("pi_a"));
}

TEST_CASE("a file that is read or written already is not written, by whatever name") {
  const Proving proving;
  for (const char* name : {"key", "witness", "other"}) std::ofstream(proving.file(name)) << name;
  std::filesystem::create_symlink("key", proving.file("link"));
  std::filesystem::create_hard_link(proving.file("other"), proving.file("second"));
  const auto refused = [&](const std::string& proof, const std::string& inputs) {
    const auto wrong = settled(
        {proving.file("key"), proving.file("witness"), proving.file(proof), proving.file(inputs)});
    return wrong ? *wrong : std::string();
  };
  CHECK(refused("p", "i").empty());
  CHECK_THAT(refused("p", "p"), Contains("the same file as the proof"));
  CHECK_THAT(
      refused(
          "p",
          "../" + std::filesystem::path(proving.file("")).parent_path().filename().string() + "/p"),
      Contains("the same file as the proof"));
  CHECK_THAT(refused("other", "second"), Contains("the same file as the proof"));
  CHECK_THAT(refused("link", "i"), Contains("the same file as the proving key"));
  CHECK_THAT(refused("p", "witness"), Contains("the same file as a witness"));
}

TEST_CASE("a folder is not replaced by a proof") {
  const Proving proving;
  std::filesystem::create_directory(proving.file("folder"));
  CHECK(proving.prove(proving.file("folder"), proving.file("i")) == 2);
  CHECK_THAT(proving.errors(), Contains("folder: is a folder"));
}

TEST_CASE("flags that lead to one file twice are refused before any work") {
  const Proving proving;
  std::filesystem::create_directory(proving.file("o"));
  ProveFiles files;
  files.zkey = "absent";
  files.wtns = {proving.file("o/public.json")};
  files.out = proving.file("o");
  CHECK_THAT(settle_files(files).value_or(""), Contains("the same file as a witness"));
  files.wtns = {"w", "w"};
  CHECK_FALSE(settle_files(files));
}

}  // namespace vitrine::engine::testing
