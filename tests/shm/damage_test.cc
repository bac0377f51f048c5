// SPDX-License-Identifier: Apache-2.0
// A segment that others cut or overwrite: its writer notices, survives, and publishes it again.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <random>
#include <thread>

#include "shm/segment_reader.h"
#include "shm/segment_writer.h"
#include "tests/shm/small_segment.h"

namespace vitrine::shm {

namespace fs = std::filesystem;

TEST_CASE("a writer survives the loss of its pages and shows the same state again") {
  const SharedScratchFolder scratch;
  const auto options = small_segment(scratch / "test.segment");
  auto writer = publish(options);
  const auto note = [&](std::uint32_t workers) {
    Transaction transaction = writer.begin();
    transaction.edit<EngineRecord>().workers = workers;
    transaction.recycle<JobRecord>(workers).state = JobState::kRunning;
    Event event;
    event.time = {workers};
    transaction.append(event);
  };
  note(1);
  note(2);
  const auto size = GENERATE(0, 1, 4096, 8192);
  const bool grows_again = GENERATE(false, true);
  const auto whole = static_cast<off_t>(fs::file_size(options.path));
  REQUIRE(::truncate(options.path.c_str(), size) == 0);
  if (grows_again) REQUIRE(::truncate(options.path.c_str(), whole) == 0);
  CHECK(writer.is_damaged());
  writer.beat();
  note(3);
  std::mutex state_mutex;
  REQUIRE(writer.publish_again(state_mutex).has_value());
  CHECK_FALSE(writer.is_damaged());
  note(4);
  auto reader = SegmentReader::attach(options.path).value();
  Snapshot snapshot;
  REQUIRE(reader.snapshot(snapshot).has_value());
  CHECK(snapshot.consistent);
  CHECK(snapshot.commit == 4);
  CHECK(snapshot.incarnation == writer.incarnation());
  CHECK(snapshot.engine().workers == 4);
  CHECK(snapshot.rows<JobRecord>().size() == 4);
  CHECK(snapshot.heartbeat == 2);
  const auto events = reader.events_after(0, 10);
  REQUIRE(events.has_value());
  // Those before the loss went with their page, but not their count.
  REQUIRE(events->events.size() == 2);
  CHECK(events->events.back().sequence == 4);
  CHECK(events->missed == 2);
}

namespace {

std::uint64_t offset_of_section(const fs::path& path, SectionId id) {
  const std::string bytes = read_whole(path);
  for (std::uint32_t i = 0; i < kSectionCapacity; ++i) {
    SectionEntry entry;
    std::memcpy(&entry, bytes.data() + kSectionTableOffset + i * sizeof(entry), sizeof(entry));
    if (entry.id == static_cast<std::uint32_t>(id)) return entry.offset_bytes;
  }
  FAIL("no such section");
  return 0;
}

FileDescriptor open_to_damage(const fs::path& path) {
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  REQUIRE(file.is_open());
  return file;
}

void overwrite(const fs::path& path, std::uint64_t offset_bytes, const std::string& bytes) {
  const FileDescriptor file = open_to_damage(path);
  REQUIRE(::pwrite(file.number(), bytes.data(), bytes.size(), static_cast<off_t>(offset_bytes)) ==
          static_cast<ssize_t>(bytes.size()));
}

std::string noise(std::size_t count) {
  std::mt19937_64 random(7);
  std::string bytes(count, ' ');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

}  // namespace

TEST_CASE("events lost in the middle are told as missed, the others stay in order") {
  const SharedScratchFolder scratch;
  auto options = small_segment(scratch / "test.segment");
  options.capacity.events = 256;  // 5 pages
  constexpr std::uint64_t kEvents = 200;
  auto writer = publish(options);
  for (std::uint64_t i = 1; i <= kEvents; ++i) {
    Event event;
    event.time = {i};
    writer.begin().append(event);
  }
  const auto ring = static_cast<off_t>(offset_of_section(options.path, SectionId::kEvents));
  const auto damage = GENERATE(0, 1);
  if (damage == 0) {
    const FileDescriptor file = open_to_damage(options.path);
    REQUIRE(::fallocate(file.number(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, ring + 4096,
                        4096) == 0);
  } else {
    overwrite(options.path, static_cast<std::uint64_t>(ring) + 4096, noise(4096));
  }
  std::mutex state_mutex;
  REQUIRE(writer.publish_again(state_mutex).has_value());
  auto reader = SegmentReader::attach(options.path).value();
  std::uint64_t reached = 0;
  std::uint64_t missed = 0;
  std::vector<Event> events;
  while (reached < kEvents) {
    const auto batch = reader.events_after(reached, 1000).value();
    REQUIRE(batch.last_sequence > reached);
    reached = batch.last_sequence;
    missed += batch.missed;
    events.insert(events.end(), batch.events.begin(), batch.events.end());
  }
  CHECK(missed == 64);
  CHECK(events.size() == kEvents - 64);
  for (const Event& event : events) {
    CHECK(event.time.ns == event.sequence);
    CHECK(event.stamp == event.sequence);
  }
  // As they lie in the segment, the lost ones too.
  const std::string bytes = read_whole(options.path);
  std::uint64_t last_stamp = 0;
  for (std::uint64_t i = 0; i < kEvents; ++i) {
    Event event;
    const auto place = static_cast<std::size_t>(ring) + kLineBytes + i * sizeof(event);
    std::memcpy(static_cast<void*>(&event), bytes.data() + place, sizeof(event));
    CHECK(event.stamp >= last_stamp);
    last_stamp = event.stamp;
  }
}

TEST_CASE("overwritten rows, rings and commits are noticed, and published again") {
  const SharedScratchFolder scratch;
  const auto options = small_segment(scratch / "test.segment");
  auto writer = publish(options);
  std::mutex state_mutex;
  for (std::uint32_t row = 0; row < 5; ++row) {
    Transaction transaction = writer.begin();
    transaction.recycle<JobRecord>(row).state = JobState::kRunning;
    Event event;
    event.time = {1};
    transaction.append(event);
  }
  CHECK_FALSE(writer.are_rows_damaged(state_mutex));
  std::uint64_t offset = offset_of_section(options.path, SectionId::kJobs);
  std::string bytes = noise(4096);
  SECTION("a table, with noise") {}
  SECTION("a table, with zeros") { bytes = std::string(4096, '\0'); }
  SECTION("the head of one row") {
    offset += 2 * record_stride_bytes(sizeof(JobRecord));
    bytes = std::string(8, '\0');
  }
  SECTION("the newest version of one row") {
    offset += record_stride_bytes(sizeof(JobRecord)) + kLineBytes + slot_bytes(sizeof(JobRecord));
    bytes = noise(slot_bytes(sizeof(JobRecord)));
  }
  SECTION("the ring of events") { offset = offset_of_section(options.path, SectionId::kEvents); }
  SECTION("the commit") {
    offset = kHotLinesOffset;
    bytes = noise(8);
  }
  overwrite(options.path, offset, bytes);
  CHECK_FALSE(writer.is_damaged());
  CHECK(writer.are_rows_damaged(state_mutex));
  REQUIRE(writer.publish_again(state_mutex).has_value());
  CHECK_FALSE(writer.are_rows_damaged(state_mutex));
  auto reader = SegmentReader::attach(options.path).value();
  Snapshot snapshot;
  REQUIRE(reader.snapshot(snapshot).has_value());
  CHECK(snapshot.consistent);
  CHECK(snapshot.rows<JobRecord>().size() == 5);
  writer.begin().edit<EngineRecord>().workers = 1;
  CHECK_FALSE(writer.are_rows_damaged(state_mutex));
}

TEST_CASE("rows are looked at while another thread publishes them") {
  const SharedScratchFolder scratch;
  auto writer = publish(small_segment(scratch / "test.segment"));
  std::mutex state_mutex;
  std::atomic<bool> is_over = false;
  std::atomic<std::uint32_t> published = 0;
  std::thread publisher([&] {
    for (std::uint32_t i = 0; !is_over; ++i) {
      const std::lock_guard lock(state_mutex);
      Transaction transaction = writer.begin();
      transaction.recycle<JobRecord>(i % 8).state = JobState::kRunning;
      transaction.clear<PartitionRecord>(i % 64);
      transaction.append(Event{});
      published = i;
    }
  });
  // The looker ends it, so that neither can be through before the other began.
  std::uint64_t damaged = 0;
  for (std::uint32_t looks = 0; looks < 200 || published < 2'000; ++looks) {
    damaged += writer.are_rows_damaged(state_mutex) ? 1 : 0;
  }
  is_over = true;
  publisher.join();
  CHECK(damaged == 0);
}

TEST_CASE("an overwritten header is noticed") {
  const SharedScratchFolder scratch;
  const auto options = small_segment(scratch / "test.segment");
  auto writer = publish(options);
  CHECK_FALSE(writer.is_damaged());
  std::string bytes = read_whole(options.path);
  bytes[100] = static_cast<char>(bytes[100] ^ 1);
  const FileDescriptor file(::open(options.path.c_str(), O_WRONLY | O_CLOEXEC));
  REQUIRE(::pwrite(file.number(), bytes.data(), 512, 0) == 512);
  CHECK(writer.is_damaged());
  std::mutex state_mutex;
  REQUIRE(writer.publish_again(state_mutex).has_value());
  CHECK_FALSE(writer.is_damaged());
}

}  // namespace vitrine::shm
