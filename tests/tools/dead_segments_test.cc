// SPDX-License-Identifier: Apache-2.0
#include "tools/dead_segments.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <fstream>
#include <thread>

#include "shm/discovery.h"
#include "shm/owner_lock_writer.h"
#include "shm/paths.h"
#include "tests/scratch_folder.h"
#include "tests/tools/program_run.h"
#include "tests/tools/test_engine.h"

using namespace vitrine;
using namespace vitrine::tools;
using namespace vitrine::tests;
using Outcome = CollectedSegment::Outcome;

namespace {

std::vector<CollectedSegment> collect(const SharedScratchFolder& scratch, Removal removal) {
  return collect_dead_segments(shm::list_segments({{scratch.path()}}), Owners::kSelf, removal);
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

TEST_CASE("a removed segment takes its lock with it, a dry run makes none", "[gc]") {
  const SharedScratchFolder scratch;
  { const shm::SegmentWriter dead = publish_engine(scratch.path(), "e"); }
  const auto lock = shm::lock_path_of(path_in(scratch, "e"));
  REQUIRE(std::filesystem::remove(lock));
  CHECK(collect(scratch, Removal::kPretend).at(0).outcome == Outcome::kRemoved);
  CHECK(!std::filesystem::exists(lock));
  CHECK(collect(scratch, Removal::kRemove).at(0).outcome == Outcome::kRemoved);
  CHECK(std::filesystem::is_empty(scratch.path()));
}

TEST_CASE("a lock that is no file to lock keeps its segment, and is named", "[gc]") {
  const SharedScratchFolder scratch;
  { const shm::SegmentWriter dead = publish_engine(scratch.path(), "e"); }
  const auto lock = shm::lock_path_of(path_in(scratch, "e"));
  std::filesystem::remove(lock);
  std::filesystem::create_symlink("/nonexistent/x", lock);
  const auto segments = collect(scratch, Removal::kRemove);
  REQUIRE(segments.size() == 1);
  CHECK(segments[0].outcome == Outcome::kKept);
  CHECK(segments[0].reason.starts_with(lock.string() + ": "));
}

TEST_CASE("gc of a named segment leaves all others alone", "[gc]") {
  const SharedScratchFolder scratch;
  { const shm::SegmentWriter first = publish_engine(scratch.path(), "e"); }
  { const shm::SegmentWriter second = publish_engine(scratch.path(), "e"); }
  { const shm::SegmentWriter other = publish_engine(scratch.path(), "other"); }
  const ProgramRun run = run_vitrine({"gc", "--segment", path_in(scratch, "e")});
  INFO(run.output << run.error);
  CHECK(run.exit_code == 0);
  CHECK(std::count(run.output.begin(), run.output.end(), '\n') == 2);
  CHECK(!std::filesystem::exists(path_in(scratch, "e")));
  CHECK(shm::list_segments({{scratch.path()}}).size() == 1);
  CHECK(std::filesystem::exists(path_in(scratch, "other")));
}

TEST_CASE("engines that start while segments are collected keep their names", "[gc]") {
  const SharedScratchFolder scratch;
  std::atomic<bool> is_over = false;
  std::thread collector([&] {
    while (!is_over) static_cast<void>(collect(scratch, Removal::kRemove));
  });
  int kept = 0;
  std::string problem;
  for (int i = 0; i < 300 && problem.empty(); ++i) {
    try {
      const shm::SegmentWriter engine = publish_engine(scratch.path(), "e");
      kept += engine.is_name_lost() ? 0 : 1;
    } catch (const std::exception& error) {
      problem = error.what();
    }
  }
  is_over = true;
  collector.join();
  CHECK(problem.empty());
  CHECK(kept == 300);
}
