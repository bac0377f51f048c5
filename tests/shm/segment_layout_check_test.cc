// SPDX-License-Identifier: Apache-2.0
// Hostile segments: every number of the header that an address is computed from, made wrong.
#include "shm/segment_layout_check.h"

#include <cstring>
#include <functional>
#include <iostream>
#include <random>

#include "shm/segment_reader.h"
#include "shm/snapshot_json.h"
#include "tests/shm/small_segment.h"

namespace vitrine::shm {
namespace {

// The bytes of a segment with something in every table and a few events, of an engine that ended.
std::string segment_bytes() {
  SharedScratchFolder directory;
  const auto path = directory / "main.segment";
  SegmentWriter writer = publish(small_segment(path));
  for (std::uint32_t i = 0; i < 4; ++i) {
    Transaction transaction = writer.begin();
    JobRecord& job = transaction.recycle<JobRecord>(i);
    job.job = Id{i + 1};
    job.state = JobState::kRunning;
    job.circuit.assign("circuit");
    transaction.recycle<PartitionRecord>(i).stage = PartitionStage::kPending;
    transaction.recycle<WorkerRecord>(i).state = WorkerState::kIdle;
    transaction.edit<EngineRecord>().workers = i;
    transaction.append(Event{});
  }
  return read_whole(path);
}

template <class Value>
void put(std::string& bytes, std::size_t offset_bytes, Value value) {
  REQUIRE(offset_bytes + sizeof(value) <= bytes.size());
  std::memcpy(bytes.data() + offset_bytes, &value, sizeof(value));
}

// The offset of the table entry of a section.
std::size_t entry_of(const std::string& bytes, SectionId id) {
  for (std::size_t i = 0; i < kSectionCapacity; ++i) {
    SectionEntry entry;
    const std::size_t at = kSectionTableOffset + i * sizeof(entry);
    std::memcpy(&entry, bytes.data() + at, sizeof(entry));
    if (entry.id == static_cast<std::uint32_t>(id)) return at;
  }
  FAIL("no such section");
  return 0;
}

Result<SegmentReader> open_bytes(const std::string& bytes) {
  SharedScratchFolder directory;
  write_whole(directory / "x", bytes);
  return SegmentReader::open_file(directory / "x");
}

struct Damage {
  const char* what;
  ErrorKind kind;
  std::function<void(std::string&)> apply;
};

Damage in_header(const char* what, ErrorKind kind, std::size_t offset_bytes, auto value) {
  return {what, kind, [=](std::string& bytes) { put(bytes, offset_bytes, value); }};
}

Damage in_section(const char* what, SectionId id, std::size_t member, auto value) {
  return {what, ErrorKind::kCorrupt,
          [=](std::string& bytes) { put(bytes, entry_of(bytes, id) + member, value); }};
}

std::vector<Damage> header_damages() {
  constexpr auto kCorrupt = ErrorKind::kCorrupt;
  constexpr auto kUnsupported = ErrorKind::kUnsupported;
  constexpr std::size_t kTotal = offsetof(FixedHeader, total_bytes);
  constexpr std::size_t kHot = offsetof(FixedHeader, header_bytes);
  return {
      {"empty", kCorrupt, [](std::string& bytes) { bytes.clear(); }},
      {"one byte short of the fixed header", kCorrupt, [](std::string& b) { b.resize(63); }},
      {"no table of sections", kCorrupt, [](std::string& b) { b.resize(600); }},
      {"truncated", kCorrupt, [](std::string& bytes) { bytes.resize(bytes.size() - 1); }},
      in_header("magic", kCorrupt, 3, 'x'),
      in_header("other byte order", kUnsupported, offsetof(FixedHeader, byte_order), 0x04030201U),
      in_header("no byte order", kCorrupt, offsetof(FixedHeader, byte_order), 0x01020305U),
      in_header("newer major", kUnsupported, offsetof(FixedHeader, major), std::uint16_t{2}),
      in_header("older major", kUnsupported, offsetof(FixedHeader, major), std::uint16_t{0}),
      in_header("unknown required feature", kUnsupported, offsetof(FixedHeader, required_features),
                std::uint64_t{1} << 40),
      in_header("larger than the file", kCorrupt, kTotal, std::uint64_t{1} << 29),
      in_header("larger than anything", kCorrupt, kTotal, ~std::uint64_t{0}),
      in_header("smaller than the header", kCorrupt, kTotal, std::uint64_t{2048}),
      in_header("no size", kCorrupt, kTotal, std::uint64_t{0}),
      in_header("hot lines in the header", kCorrupt, kHot, 512U),
      in_header("hot lines unaligned", kCorrupt, kHot, 2056U),
      in_header("hot lines past the end", kCorrupt, kHot, 0xFFFFFF80U),
      in_header("too many sections", kCorrupt, offsetof(Header, section_count), 33U),
      in_header("sections without end", kCorrupt, offsetof(Header, section_count), ~0U)};
}

std::vector<Damage> section_damages(SectionId id) {
  constexpr std::size_t kOffset = offsetof(SectionEntry, offset_bytes);
  constexpr std::size_t kStride = offsetof(SectionEntry, stride_bytes);
  constexpr std::size_t kCount = offsetof(SectionEntry, count);
  constexpr std::size_t kRecord = offsetof(SectionEntry, record_bytes);
  return {in_section("no id", id, offsetof(SectionEntry, id), 0U),
          in_section("offset in the header", id, kOffset, std::uint64_t{64}),
          in_section("offset unaligned", id, kOffset, std::uint64_t{8196}),
          in_section("offset past the end", id, kOffset, std::uint64_t{1} << 40),
          in_section("offset that wraps", id, kOffset, ~std::uint64_t{7}),
          in_section("no stride", id, kStride, 0U),
          in_section("stride too short", id, kStride, 8U),
          in_section("stride unaligned", id, kStride, 100001U),
          in_section("stride too long", id, kStride, 0xFFFFFFF8U),
          in_section("more rows than there is room for", id, kCount, 60000U),
          in_section("rows without end", id, kCount, ~0U),
          in_section("record too short", id, kRecord, 8U),
          in_section("no record", id, kRecord, 0U),
          in_section("record unaligned", id, kRecord, 20U),
          in_section("record longer than its slot", id, kRecord, 8192U),
          in_section("record without end", id, kRecord, 0xFFFFFFF8U)};
}

void check_damage(const Damage& damage, const std::string& good) {
  CAPTURE(damage.what);
  std::string bytes = good;
  damage.apply(bytes);
  const auto reader = open_bytes(bytes);
  REQUIRE_FALSE(reader.has_value());
  INFO(reader.error().text);
  CHECK(reader.error().kind == damage.kind);
}

// Everything that a reader does with a segment; it may find anything but must come back.
void read_everything(SegmentReader& reader) {
  Snapshot snapshot;
  CHECK(reader.snapshot(snapshot).has_value());
  (void)reader.events_after(0, 1000);
  Observation observation;
  observation.identity = reader.identity();
  observation.snapshot = std::move(snapshot);
  CHECK_FALSE(to_json(observation).empty());
}

}  // namespace

TEST_CASE("An undamaged segment is read whole") {
  auto reader = open_bytes(segment_bytes());
  REQUIRE(reader.has_value());
  Snapshot snapshot;
  REQUIRE(reader->snapshot(snapshot).has_value());
  CHECK(snapshot.consistent);
  CHECK(snapshot.rows<JobRecord>().size() == 4);
}

TEST_CASE("Every damage to a header is refused with its kind") {
  const std::string good = segment_bytes();
  for (const Damage& damage : header_damages()) check_damage(damage, good);
}

TEST_CASE("Every damage to the place of a section is refused") {
  const std::string good = segment_bytes();
  const auto id = GENERATE(SectionId::kJobs, SectionId::kPartitions, SectionId::kEvents);
  for (const Damage& damage : section_damages(id)) check_damage(damage, good);
}

TEST_CASE("A section that is there twice is refused") {
  std::string bytes = segment_bytes();
  put(bytes, entry_of(bytes, SectionId::kQueues), static_cast<std::uint32_t>(SectionId::kJobs));
  const auto reader = open_bytes(bytes);
  REQUIRE_FALSE(reader.has_value());
  CHECK(reader.error().kind == ErrorKind::kCorrupt);
}

TEST_CASE("A version that cannot be read says who is older and what to do") {
  std::string bytes = segment_bytes();
  put(bytes, offsetof(FixedHeader, major), std::uint16_t{7});
  const auto reader = open_bytes(bytes);
  REQUIRE_FALSE(reader.has_value());
  CHECK_THAT(reader.error().text, Catch::Contains("the program is older: upgrade it"));
}

TEST_CASE("Sections of a newer minor version are passed over, missing ones are empty tables") {
  std::string bytes = segment_bytes();
  put(bytes, entry_of(bytes, SectionId::kJobs), 4711U);
  put(bytes, offsetof(FixedHeader, minor), std::uint16_t{9});
  auto reader = open_bytes(bytes);
  REQUIRE(reader.has_value());
  Snapshot snapshot;
  REQUIRE(reader->snapshot(snapshot).has_value());
  CHECK(snapshot.rows<JobRecord>().empty());
  CHECK(snapshot.rows<WorkerRecord>().size() == 4);
}

TEST_CASE("Records of an older minor version are shorter, and what they lack reads zero") {
  std::string bytes = segment_bytes();
  const std::size_t entry = entry_of(bytes, SectionId::kJobs);
  SectionEntry jobs;
  std::memcpy(&jobs, bytes.data() + entry, sizeof(jobs));
  // The same slots, of which only the first 32 bytes are said to be a record.
  jobs.record_bytes = 32;
  put(bytes, entry, jobs);
  std::uint32_t row_bytes = jobs.stride_bytes;
  // Slot 1 of a row lies where slots of 64 bytes put it.
  const std::size_t slots = jobs.offset_bytes + kLineBytes;
  std::memmove(bytes.data() + slots + 64, bytes.data() + slots + slot_bytes(sizeof(JobRecord)), 32);
  REQUIRE(row_bytes >= kLineBytes + 4 * 64);
  auto reader = open_bytes(bytes);
  REQUIRE(reader.has_value());
  Snapshot snapshot;
  REQUIRE(reader->snapshot(snapshot).has_value());
  REQUIRE_FALSE(snapshot.rows<JobRecord>().empty());
  const JobRecord& job = snapshot.rows<JobRecord>().front();
  CHECK(job.job == Id{1});
  CHECK(job.state == JobState::kRunning);
  CHECK(job.circuit.view().empty());
}

TEST_CASE("Random damage anywhere is refused or read, never more") {
  const auto seed = std::random_device{}();
  std::cout << "seed " << seed << '\n';
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const std::string good = segment_bytes();
  int read = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = good;
    // Half of the damage goes to the header, where it counts most.
    const std::size_t reach = i % 2 == 0 ? kHotLinesOffset + sizeof(HotLines) : bytes.size();
    for (std::uint64_t n = 1 + random() % 8; n > 0; --n) {
      bytes[random() % reach] = static_cast<char>(random());
    }
    if (auto reader = open_bytes(bytes)) {
      ++read;
      read_everything(*reader);
    }
  }
  CHECK(read > 0);
}

}  // namespace vitrine::shm
