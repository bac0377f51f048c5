// SPDX-License-Identifier: Apache-2.0
#include "tools/conformance.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "shm/clock.h"
#include "shm/segment_writer.h"
#include "tests/scratch_folder.h"
#include "tests/tools/test_engine.h"

namespace vitrine::tools {
namespace {

using Catch::Matchers::Contains;

// A live segment in this process, as good as its test makes it.
struct Engine {
  SharedScratchFolder folder;
  shm::SegmentOptions options;
  shm::SegmentWriter writer;

  Engine() : options(options_in(folder / "some.segment")), writer(publish(options)) {
    writer.set_life(shm::EngineLife::kReady, 0);
    auto rows = writer.begin();
    rows.edit<shm::EngineRecord>().workers = 0;
  }
  static shm::SegmentOptions options_in(const std::filesystem::path& path) {
    shm::SegmentOptions options;
    options.instance = "some";
    options.path = path;
    options.capacity.partitions = 16;
    options.capacity.events = 64;
    options.heartbeat_interval_ns = 60'000'000'000;
    return options;
  }
  static shm::SegmentWriter publish(const shm::SegmentOptions& options) {
    auto writer = shm::SegmentWriter::publish_named(options);
    REQUIRE(writer.has_value());
    return std::move(*writer);
  }
  Conformance conformance() const {
    shm::Target target;
    target.path = options.path;
    return Conformance(target);
  }
  void append_event(std::uint64_t time_ns) {
    auto rows = writer.begin();
    shm::Event event;
    event.type = shm::EventType::kStart;
    event.time = {time_ns};
    rows.append(event);
  }
};

TEST_CASE("an engine that keeps the rules conforms") {
  Engine engine;
  Conformance conformance = engine.conformance();
  REQUIRE(conformance.begin());
  for (int look = 0; look < 3; ++look) {
    engine.append_event(shm::monotonic_ns());
    CHECK(conformance.look());
  }
  INFO(conformance.text());
  CHECK(conformance.conforms());
  CHECK(conformance.json().at("events") == 3);
  CHECK(conformance.json().at("snapshots_consistent") == 3);
}

TEST_CASE("a broken invariant is named once, with how often it was seen") {
  Engine engine;
  {
    auto rows = engine.writer.begin();
    shm::JobRecord& job = rows.recycle<shm::JobRecord>(0);
    job.job = {7};
    job.state = shm::JobState::kQueued;
  }
  Conformance conformance = engine.conformance();
  REQUIRE(conformance.begin());
  for (int look = 0; look < 3; ++look) CHECK(conformance.look());
  CHECK_FALSE(conformance.conforms());
  CHECK_THAT(conformance.text(), Contains("I5: job 7 waits without a reason (3 times"));
}

// Looks until an engine without work has been looked at as one that is quiet.
void look_until_quiet(Conformance& conformance) {
  const std::uint64_t deadline_ns = shm::monotonic_ns() + 30'000'000'000;
  while (!conformance.json().at("checks").as_object().contains("quiet")) {
    REQUIRE(conformance.look());
    REQUIRE(shm::monotonic_ns() < deadline_ns);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

TEST_CASE("an engine without jobs that still holds something does not conform") {
  Engine engine;
  {
    auto rows = engine.writer.begin();
    shm::WorkerRecord& worker = rows.recycle<shm::WorkerRecord>(0);
    worker.state = shm::WorkerState::kIdle;
    worker.idle_reason = shm::IdleReason::kNoWork;
  }
  Conformance conformance = engine.conformance();
  REQUIRE(conformance.begin());
  look_until_quiet(conformance);
  CHECK(conformance.conforms());
  {
    auto rows = engine.writer.begin();
    rows.edit<shm::WorkerRecord>(0).idle_reason = shm::IdleReason::kStarting;
  }
  REQUIRE(conformance.look());
  CHECK_THAT(conformance.text(), Contains("I9: worker 0 is not idle for want of work"));
}

TEST_CASE("events that go back in time are found") {
  Engine engine;
  engine.append_event(2000);
  engine.append_event(1000);
  Conformance conformance = engine.conformance();
  REQUIRE(conformance.begin());
  CHECK(conformance.look());
  CHECK_THAT(conformance.text(), Contains("events: event 2 is of an earlier time"));
}

// All four versions of the one row of the table `engine` get this stamp.
void stamp_engine_row(const Engine& engine, std::uint64_t stamp) {
  constexpr std::size_t kSlotWords = shm::slot_bytes(sizeof(shm::EngineRecord)) / 8;
  for (std::size_t slot = 0; slot < shm::kSlots; ++slot) {
    tests::overwrite_row(engine.options.path, shm::SectionId::kEngine,
                         shm::kLineBytes / 8 + slot * kSlotWords, stamp);
  }
}

TEST_CASE("an engine of which no snapshot is of one moment does not conform") {
  Engine engine;
  {
    auto rows = engine.writer.begin();
    rows.edit<shm::EngineRecord>().workers = 1;
  }
  {
    auto rows = engine.writer.begin();
    rows.edit<shm::EngineRecord>().workers = 2;
  }
  stamp_engine_row(engine, std::uint64_t{1} << 40);
  Conformance conformance = engine.conformance();
  REQUIRE(conformance.begin());
  for (int look = 0; look < 3; ++look) CHECK(conformance.look());
  conformance.finish();
  const std::string text = conformance.text();
  CHECK_FALSE(conformance.conforms());
  CHECK_THAT(text, Contains("a snapshot is not of one moment though commit 3 stands (3 times"));
  CHECK_THAT(text, Contains("none of 3 snapshots was of one moment"));
  CHECK_THAT(text,
             Contains("stamps: ") && Contains("is of transaction 1099511627776, the commit is 3"));
  CHECK_THAT(text, !Contains("invariants"));  // there was nothing to check them on
}

TEST_CASE("a row that stays ahead of its commit is found, though snapshots are of one moment") {
  Engine engine;
  {
    auto rows = engine.writer.begin();
    rows.edit<shm::EngineRecord>().workers = 1;
  }
  // As of a transaction that published this row and never ended.
  constexpr std::size_t kSlotWords = shm::slot_bytes(sizeof(shm::EngineRecord)) / 8;
  tests::overwrite_row(engine.options.path, shm::SectionId::kEngine,
                       shm::kLineBytes / 8 + 3 * kSlotWords, 3);
  tests::overwrite_row(engine.options.path, shm::SectionId::kEngine, 0, 3);
  Conformance conformance = engine.conformance();
  REQUIRE(conformance.begin());
  CHECK(conformance.look());
  CHECK(conformance.conforms());
  const std::uint64_t deadline_ns = shm::monotonic_ns() + 30'000'000'000;
  while (conformance.conforms()) {
    REQUIRE(shm::monotonic_ns() < deadline_ns);
    REQUIRE(conformance.look());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  CHECK_THAT(conformance.text(), Contains("is of transaction 3, the commit is 2 and stands"));
}

TEST_CASE("an engine that closes ends the looks") {
  Engine engine;
  Conformance conformance = engine.conformance();
  REQUIRE(conformance.begin());
  CHECK(conformance.look());
  engine.writer.set_life(shm::EngineLife::kClosed, 0);
  CHECK_FALSE(conformance.look());
  CHECK(conformance.conforms());
}

}  // namespace
}  // namespace vitrine::tools
