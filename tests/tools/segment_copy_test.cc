// SPDX-License-Identifier: Apache-2.0
#include "tools/segment_copy.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <fstream>
#include <thread>

#include "shm/clock.h"
#include "tests/scratch_folder.h"
#include "tests/tools/test_engine.h"

using namespace vitrine;
using namespace vitrine::tools;
using namespace vitrine::tests;

namespace {

shm::Attachment attach(const std::filesystem::path& path) {
  shm::Target target;
  target.path = path;
  shm::Attachment attachment(target);
  REQUIRE(attachment.observe().snapshot.has_value());
  return attachment;
}

shm::SegmentReader opened(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
  return shm::SegmentReader::open_file(path).value();
}

// Every transaction writes its number into three tables and the ring.
void publish_numbers(shm::SegmentWriter& writer, const std::atomic<bool>& is_over) {
  for (std::uint64_t number = 1; !is_over; ++number) {
    shm::Transaction transaction = writer.begin();
    transaction.edit<shm::EngineRecord>().recycled_rows = number;
    transaction.edit<shm::MemoryRecord>().evictions = number;
    transaction.edit<shm::WorkerRecord>(0).busy_ns = number;
    shm::Event event;
    event.time = {shm::monotonic_ns()};
    event.type = shm::EventType::kGpuStart;
    event.argument = number;
    transaction.append(event);
  }
}

}  // namespace

TEST_CASE("a copy of a segment at rest shows the same, and the dead one's is its bytes", "[copy]") {
  const SharedScratchFolder scratch;
  const auto path = shm::segment_path_in(scratch.path(), "e");
  shm::Snapshot before;
  {
    shm::SegmentWriter writer = publish_engine(scratch.path(), "e");
    append_events(writer, 90);
    shm::Attachment attachment = attach(path);
    before = *attachment.last().snapshot;
    const auto bytes = copy_segment(attachment);
    REQUIRE(bytes.has_value());
    shm::SegmentReader reader = opened(scratch / "copy", *bytes);
    shm::Snapshot after;
    REQUIRE(reader.snapshot(after).has_value());
    CHECK(after.consistent);
    CHECK(after.commit == before.commit);
    CHECK(after.rows<shm::PartitionRecord>().size() == 4);
    CHECK(after.rows<shm::JobRecord>().at(0).circuit.view() == "sha256");
    CHECK(after.heartbeat == before.heartbeat);
    const auto events = reader.events_after(0, 1000);
    REQUIRE(events.has_value());
    CHECK(events->events.size() == kTestEventCapacity - 1);
    CHECK(events->last_sequence == 90);
  }
  shm::Attachment dead = attach(path);
  const auto bytes = copy_segment(dead);
  REQUIRE(bytes.has_value());
  std::ifstream file(path, std::ios::binary);
  CHECK(*bytes == std::string(std::istreambuf_iterator<char>(file), {}));
}

TEST_CASE("a copy made while the engine publishes flat out is of one moment", "[copy]") {
  const SharedScratchFolder scratch;
  const auto path = shm::segment_path_in(scratch.path(), "e");
  shm::SegmentWriter writer = publish_engine(scratch.path(), "e");
  std::atomic<bool> is_over = false;
  std::thread publisher([&] { publish_numbers(writer, is_over); });
  for (int i = 0; i < 50; ++i) {
    shm::Attachment attachment = attach(path);
    const auto bytes = copy_segment(attachment);
    if (!bytes) continue;
    shm::SegmentReader reader = opened(scratch / "copy", *bytes);
    shm::Snapshot copied;
    REQUIRE(reader.snapshot(copied).has_value());
    REQUIRE(copied.consistent);
    const std::uint64_t number = copied.engine().recycled_rows;
    REQUIRE(copied.memory().evictions == number);
    REQUIRE(copied.rows<shm::WorkerRecord>().at(0).busy_ns == number);
    const auto events = reader.events_after(0, 1000);
    REQUIRE(events.has_value());
    for (const shm::Event& event : events->events) {
      REQUIRE(event.argument == event.sequence);
      REQUIRE(event.stamp <= copied.commit);
    }
  }
  is_over = true;
  publisher.join();
}

TEST_CASE("a name that leads to another engine by now is not copied", "[copy]") {
  const SharedScratchFolder scratch;
  const auto path = shm::segment_path_in(scratch.path(), "e");
  auto first = std::make_unique<shm::SegmentWriter>(publish_engine(scratch.path(), "e"));
  shm::Attachment attachment = attach(path);
  first.reset();
  const shm::SegmentWriter second = publish_engine(scratch.path(), "e");
  const auto bytes = copy_segment(attachment);
  REQUIRE(!bytes.has_value());
  CHECK(bytes.error().text.find("another engine's") != std::string::npos);
}
