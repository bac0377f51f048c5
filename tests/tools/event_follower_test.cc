// SPDX-License-Identifier: Apache-2.0
#include "shm/event_follower.h"

#include <catch2/catch.hpp>
#include <mutex>

#include "tests/scratch_folder.h"
#include "tests/tools/sample_observation.h"
#include "tests/tools/test_engine.h"
#include "tools/event_text.h"

using namespace vitrine;
using namespace vitrine::tools;
using namespace vitrine::tests;

namespace {

shm::EventFollower follow(const SharedScratchFolder& scratch,
                          const shm::EventPosition& after = {}) {
  shm::Target target;
  target.path = shm::segment_path_in(scratch.path(), "e");
  auto follower = shm::EventFollower::attach(target, after);
  REQUIRE(follower.has_value());
  return std::move(*follower);
}

shm::EventFollower::Batch next(shm::EventFollower& follower) {
  auto batch = follower.next();
  REQUIRE(batch.has_value());
  return std::move(*batch);
}

// One engine after the other, the newest alive; each with as many events as its place tells.
class Lineage {
 public:
  explicit Lineage(const SharedScratchFolder& scratch) : scratch_(scratch) {}
  void begin_next() {
    living_.reset();
    living_.emplace(publish_engine(scratch_.path(), "e"));
    incarnations.push_back(living_->incarnation());
    append_events(*living_, static_cast<std::uint32_t>(incarnations.size()));
  }
  std::filesystem::path dead_path(std::size_t index) const {
    return shm::dead_path_of(shm::segment_path_in(scratch_.path(), "e"), incarnations[index]);
  }

  std::vector<std::string> incarnations;

 private:
  const SharedScratchFolder& scratch_;
  std::optional<shm::SegmentWriter> living_;
};

void check_batch(shm::EventFollower& follower, const std::string& incarnation, std::size_t events) {
  const shm::EventFollower::Batch batch = next(follower);
  CHECK(batch.new_incarnation == incarnation);
  CHECK(batch.events.size() == events);
  CHECK(batch.missed == 0);
}

}  // namespace

TEST_CASE("events that were lost with their page are missed, those behind them are not",
          "[events]") {
  const SharedScratchFolder scratch;
  shm::SegmentWriter writer = publish_engine(scratch.path(), "e");
  append_events(writer, 5);
  const auto path = shm::segment_path_in(scratch.path(), "e");
  for (const std::size_t lost : {2, 3}) {  // by their sequence word
    overwrite_row(path, shm::SectionId::kEvents,
                  shm::kLineBytes / 8 + (lost - 1) * sizeof(shm::Event) / 8 + 1, 999);
  }
  std::mutex state_mutex;
  REQUIRE(writer.publish_again(state_mutex).has_value());
  shm::EventFollower follower = follow(scratch);
  shm::EventFollower::Batch batch = next(follower);
  REQUIRE(batch.events.size() == 1);
  batch = next(follower);
  CHECK(batch.missed == 2);
  REQUIRE(batch.events.size() == 2);
  CHECK(batch.events.front().sequence == 4);
  batch = next(follower);
  CHECK((batch.events.empty() && batch.missed == 0));
  append_events(writer, 1);
  CHECK(next(follower).events.size() == 1);
}

TEST_CASE("events come in order, each once", "[events]") {
  const SharedScratchFolder scratch;
  shm::SegmentWriter writer = publish_engine(scratch.path(), "e");
  append_events(writer, 3);
  shm::EventFollower follower = follow(scratch);
  shm::EventFollower::Batch batch = next(follower);
  REQUIRE(batch.events.size() == 3);
  CHECK(batch.missed == 0);
  CHECK(batch.events[0].sequence == 1);
  CHECK(batch.events[2].sequence == 3);
  CHECK(next(follower).events.empty());
  append_events(writer, 1);
  batch = next(follower);
  REQUIRE(batch.events.size() == 1);
  CHECK(batch.events[0].sequence == 4);
}

TEST_CASE("events overwritten before they were read are counted exactly", "[events]") {
  const SharedScratchFolder scratch;
  shm::SegmentWriter writer = publish_engine(scratch.path(), "e");
  append_events(writer, 1);
  shm::EventFollower follower = follow(scratch);
  CHECK(next(follower).events.size() == 1);
  append_events(writer, 3 * kTestEventCapacity);
  const shm::EventFollower::Batch batch = next(follower);
  REQUIRE(!batch.events.empty());
  CHECK(batch.missed + batch.events.size() == 3 * kTestEventCapacity);
  CHECK(batch.events.front().sequence == 2 + batch.missed);
  CHECK(batch.events.back().sequence == 1 + 3 * kTestEventCapacity);
}

TEST_CASE("the last events of a dead engine come before its successor's", "[events]") {
  const SharedScratchFolder scratch;
  std::optional<shm::SegmentWriter> first = publish_engine(scratch.path(), "e");
  append_events(*first, 1);
  shm::EventFollower follower = follow(scratch);
  CHECK(next(follower).events.size() == 1);
  append_events(*first, 2);
  first.reset();
  shm::SegmentWriter second = publish_engine(scratch.path(), "e");
  append_events(second, 1);

  shm::EventFollower::Batch batch = next(follower);
  CHECK(batch.events.size() == 2);
  CHECK(batch.new_incarnation.empty());
  CHECK(!follower.engine_lives());
  batch = next(follower);
  REQUIRE(batch.events.size() == 1);
  CHECK(batch.events[0].sequence == 1);
  CHECK(batch.new_incarnation == second.incarnation());
  CHECK(follower.engine_lives());
}

TEST_CASE("a segment that is published again goes on where the first ended", "[events]") {
  const bool is_truncated = GENERATE(false, true);
  const SharedScratchFolder scratch;
  shm::SegmentWriter writer = publish_engine(scratch.path(), "e");
  const auto path = shm::segment_path_in(scratch.path(), "e");
  append_events(writer, 3);
  shm::EventFollower follower = follow(scratch);
  CHECK(next(follower).events.size() == 3);
  if (is_truncated) {
    std::filesystem::resize_file(path, 0);
  } else {
    std::filesystem::remove(path);
  }
  CHECK(follower.next().has_value() != is_truncated);
  append_events(writer, 1);
  std::mutex state_mutex;
  REQUIRE(writer.publish_again(state_mutex).has_value());
  append_events(writer, 1);
  std::vector<shm::Event> events;
  while (events.size() < 2) {
    for (const shm::Event& event : next(follower).events) events.push_back(event);
  }
  CHECK(events[0].sequence == 4);
  CHECK(events[1].sequence == 5);
}

TEST_CASE("engines that came and went between two looks are read from their dead segments",
          "[events]") {
  const SharedScratchFolder scratch;
  Lineage lineage(scratch);
  lineage.begin_next();
  shm::EventFollower follower = follow(scratch);
  check_batch(follower, "", 1);
  for (int i = 0; i < 3; ++i) lineage.begin_next();
  for (std::size_t i = 1; i < 4; ++i) check_batch(follower, lineage.incarnations[i], i + 1);
  CHECK(next(follower).events.empty());
  CHECK(follower.position() == shm::EventPosition{lineage.incarnations[3], 4});
}

TEST_CASE("a follower goes on where another has ended, of the same engine or of one that is gone",
          "[events]") {
  const SharedScratchFolder scratch;
  Lineage lineage(scratch);
  for (int i = 0; i < 2; ++i) lineage.begin_next();
  const shm::EventPosition position{lineage.incarnations[1], 1};
  {
    shm::EventFollower follower = follow(scratch, position);
    check_batch(follower, "", 1);
  }
  for (int i = 0; i < 2; ++i) lineage.begin_next();
  shm::EventFollower follower = follow(scratch, position);
  check_batch(follower, "", 1);
  check_batch(follower, lineage.incarnations[2], 3);
  check_batch(follower, lineage.incarnations[3], 4);
  CHECK(next(follower).events.empty());
}

TEST_CASE("a follower says that an engine's end cannot be read any more", "[events]") {
  const SharedScratchFolder scratch;
  Lineage lineage(scratch);
  for (int i = 0; i < 3; ++i) lineage.begin_next();
  std::filesystem::remove(lineage.dead_path(0));
  shm::EventFollower follower = follow(scratch, {lineage.incarnations[0], 1});
  const shm::EventFollower::Batch batch = next(follower);
  CHECK(batch.engines_missed == 1);
  CHECK(batch.new_incarnation == lineage.incarnations[1]);
  CHECK(batch.events.size() == 2);
  check_batch(follower, lineage.incarnations[2], 3);
}

TEST_CASE("a follower can begin with the newest events", "[events]") {
  const SharedScratchFolder scratch;
  shm::SegmentWriter writer = publish_engine(scratch.path(), "e");
  append_events(writer, 10);
  shm::EventFollower follower = follow(scratch);
  follower.skip_to_last(2);
  const shm::EventFollower::Batch batch = next(follower);
  REQUIRE(batch.events.size() == 2);
  CHECK(batch.missed == 0);
  CHECK(batch.events[0].sequence == 9);
}

TEST_CASE("an event is one line that says what its argument means", "[events]") {
  const shm::Observation observation = sample_observation();
  shm::Event event;
  event.time = {observation.snapshot->heartbeat_monotonic_ns};
  event.type = shm::EventType::kPartitionFail;
  event.job = {7};
  event.partition = shm::Index::of(3);
  event.attempt = 2;
  event.worker = shm::Index::of(0);
  event.argument = static_cast<std::uint64_t>(shm::FailureClass::kDeviceError);
  CHECK(event_text(event, *observation.snapshot) ==
        "2026-01-31T08:15:30.000Z  partition_fail    job 7  partition 3  attempt 2  worker 0  "
        "device_error");
  shm::Event start;
  start.time = event.time;
  start.type = shm::EventType::kStart;
  CHECK(event_text(start, *observation.snapshot) == "2026-01-31T08:15:30.000Z  start");
  start.time = {};
  CHECK(event_text(start, *observation.snapshot) == "-  start");
}
