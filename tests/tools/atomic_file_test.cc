// SPDX-License-Identifier: Apache-2.0
#include "tools/atomic_file.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <future>
#include <iterator>

#include "tests/scratch_folder.h"

using namespace vitrine;
using namespace vitrine::tools;

namespace {

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("the file behind a link is replaced, not the link", "[file]") {
  const ScratchFolder scratch;
  std::filesystem::create_symlink("target", scratch / "link");
  for (const char* text : {"first", "second"}) {
    REQUIRE(write_file_atomically(scratch / "link", text).has_value());
    CHECK(std::filesystem::is_symlink(scratch / "link"));
    CHECK(content(scratch / "target") == text);
  }
}

TEST_CASE("a pipe gets the text and stays a pipe", "[file]") {
  const ScratchFolder scratch;
  const std::filesystem::path pipe = scratch / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  auto read = std::async(std::launch::async, [&] { return content(pipe); });
  CHECK(write_file_atomically(pipe, "text").has_value());
  CHECK(read.get() == "text");
  CHECK(std::filesystem::is_fifo(pipe));
}

TEST_CASE("a folder is refused by its name and stays", "[file]") {
  const ScratchFolder scratch;
  std::filesystem::create_directory(scratch / "folder");
  const auto written = write_file_atomically(scratch / "folder", "text");
  REQUIRE(!written);
  CHECK(written.error().text.find("folder: Is a directory") != std::string::npos);
  CHECK(std::filesystem::is_directory(scratch / "folder"));
}
