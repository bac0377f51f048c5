// SPDX-License-Identifier: Apache-2.0
#include "tools/dead_segments.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>

#include "shm/discovery.h"
#include "shm/owner_lock_writer.h"
#include "shm/paths.h"
#include "tests/scratch_folder.h"
#include "tests/tools/test_engine.h"

using namespace vitrine;
using namespace vitrine::tools;
using namespace vitrine::tests;
using Outcome = CollectedSegment::Outcome;

namespace {

std::vector<CollectedSegment> collect(const SharedScratchFolder& scratch, Removal removal) {
  return collect_dead_segments({{scratch.path()}}, Owners::kSelf, removal);
}

std::filesystem::path path_in(const SharedScratchFolder& scratch, const std::string& instance) {
  return shm::segment_path_in(scratch.path(), instance);
}

}  // namespace

TEST_CASE("a dead engine's segment is removed, a live one's is kept", "[gc]") {
  const SharedScratchFolder scratch;
  shm::SegmentWriter alive = publish_engine(scratch.path(), "alive");
  { const shm::SegmentWriter dead = publish_engine(scratch.path(), "dead"); }
  const auto segments = collect(scratch, Removal::kRemove);
  REQUIRE(segments.size() == 2);
  CHECK(segments[0].outcome == Outcome::kKept);
  CHECK(segments[0].reason == "its engine lives");
  CHECK(segments[1].outcome == Outcome::kRemoved);
  CHECK(std::filesystem::exists(path_in(scratch, "alive")));
  CHECK(!std::filesystem::exists(path_in(scratch, "dead")));
}

TEST_CASE("a dry run says the same and removes nothing", "[gc]") {
  const SharedScratchFolder scratch;
  { const shm::SegmentWriter dead = publish_engine(scratch.path(), "dead"); }
  const auto segments = collect(scratch, Removal::kPretend);
  REQUIRE(segments.size() == 1);
  CHECK(segments[0].outcome == Outcome::kRemoved);
  CHECK(std::filesystem::exists(path_in(scratch, "dead")));
}

TEST_CASE("the black box of a replaced engine goes while its successor lives", "[gc]") {
  const SharedScratchFolder scratch;
  { const shm::SegmentWriter first = publish_engine(scratch.path(), "e"); }
  shm::SegmentWriter second = publish_engine(scratch.path(), "e");
  REQUIRE(shm::list_segments({{scratch.path()}}).size() == 2);
  const auto segments = collect(scratch, Removal::kRemove);
  REQUIRE(segments.size() == 2);
  CHECK(segments[0].outcome == Outcome::kKept);
  CHECK(segments[1].outcome == Outcome::kRemoved);
  CHECK(!second.is_name_lost());
}

TEST_CASE("a name is not taken from an engine that is about to have it", "[gc]") {
  const SharedScratchFolder scratch;
  { const shm::SegmentWriter dead = publish_engine(scratch.path(), "e"); }
  const auto starting =
      shm::OwnerLock::take(shm::lock_path_of(path_in(scratch, "e")), shm::Owned::kSegment, "e");
  REQUIRE(starting.has_value());
  const auto segments = collect(scratch, Removal::kRemove);
  REQUIRE(segments.size() == 1);
  CHECK(segments[0].outcome == Outcome::kKept);
  CHECK(segments[0].reason == "its instance is in use");
  CHECK(std::filesystem::exists(path_in(scratch, "e")));
}

TEST_CASE("what is no segment is kept and explained, other files are not looked at", "[gc]") {
  const SharedScratchFolder scratch;
  std::ofstream(path_in(scratch, "noise")) << std::string(4096, 'x');
  std::ofstream(scratch.path() / "notes.txt") << "mine";
  const auto segments = collect(scratch, Removal::kRemove);
  REQUIRE(segments.size() == 1);
  CHECK(segments[0].outcome == Outcome::kKept);
  CHECK(!segments[0].reason.empty());
  CHECK(std::filesystem::exists(path_in(scratch, "noise")));
  CHECK(std::filesystem::exists(scratch.path() / "notes.txt"));
}

TEST_CASE("an engine can start right after its dead segment was removed", "[gc]") {
  const SharedScratchFolder scratch;
  { const shm::SegmentWriter dead = publish_engine(scratch.path(), "e"); }
  static_cast<void>(collect(scratch, Removal::kRemove));
  const shm::SegmentWriter next = publish_engine(scratch.path(), "e");
  CHECK(!next.is_name_lost());
}
