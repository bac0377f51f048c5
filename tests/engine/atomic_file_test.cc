// SPDX-License-Identifier: Apache-2.0
#include "engine/atomic_file.h"

#include <catch2/catch.hpp>

#include "engine/text_file.h"
#include "tests/engine/container_bytes.h"
#include "tests/scratch_folder.h"

namespace vitrine::engine::testing {
namespace {

std::size_t files_in(const std::filesystem::path& folder) {
  const std::filesystem::directory_iterator files(folder);
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

TEST_CASE("a file takes its name only when it is complete") {
  const ScratchFolder scratch;
  const auto path = scratch / "file";
  REQUIRE(write_file_atomically(path, "old").has_value());
  {
    auto file = AtomicFile::create(path);
    REQUIRE(file.has_value());
    file->write(std::as_bytes(std::span("half")));
    CHECK(read_file(path) == "old");
  }
  CHECK(read_file(path) == "old");
  CHECK(files_in(scratch.path()) == 1);
  REQUIRE(write_file_atomically(path, "new").has_value());
  CHECK(read_file(path) == "new");
  CHECK(files_in(scratch.path()) == 1);
}

TEST_CASE("large content arrives whole") {
  const ScratchFolder scratch;
  const std::string content(std::size_t{5} << 20, 'x');
  REQUIRE(write_file_atomically(scratch / "file", content).has_value());
  CHECK(read_text_file(scratch / "file", content.size()).value() == content);
  CHECK_FALSE(read_text_file(scratch / "file", content.size() - 1).has_value());
}

TEST_CASE("a file that cannot be written is an error that names it, and leaves nothing") {
  const ScratchFolder scratch;
  const auto path = scratch / "absent" / "file";
  auto written = write_file_atomically(path, "text");
  REQUIRE_FALSE(written.has_value());
  CHECK_THAT(written.error().text, Catch::Matchers::Contains(path.string()));
  // A folder is in the way: the rename fails and the temporary file goes.
  std::filesystem::create_directories(scratch / "folder" / "inside");
  CHECK_FALSE(write_file_atomically(scratch / "folder", "text").has_value());
  CHECK(files_in(scratch.path()) == 1);
}

}  // namespace
}  // namespace vitrine::engine::testing
