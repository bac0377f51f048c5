// SPDX-License-Identifier: Apache-2.0
// Which files are attached, and what a snapshot of a living segment is.
#include "shm/segment_reader.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <atomic>
#include <boost/interprocess/mapped_region.hpp>
#include <chrono>
#include <thread>

#include "shm/clock.h"
#include "shm/schema_text.h"
#include "shm/segment_layout_check.h"
#include "tests/shm/small_segment.h"

namespace vitrine::shm {
namespace {

namespace fs = std::filesystem;

SegmentReader attach(const fs::path& path) {
  auto reader = SegmentReader::attach(path);
  INFO((reader ? std::string() : reader.error().text));
  REQUIRE(reader.has_value());
  return std::move(*reader);
}

Snapshot snapshot_of(SegmentReader& reader) {
  Snapshot snapshot;
  REQUIRE(reader.snapshot(snapshot).has_value());
  return snapshot;
}

ErrorKind attach_error(const fs::path& path, const AttachOptions& options = {}) {
  const auto reader = SegmentReader::attach(path, options);
  REQUIRE_FALSE(reader.has_value());
  CHECK_THAT(reader.error().text, Catch::Contains(path.string()));
  return reader.error().kind;
}

// A row of memory's table, written past the writer: versions of transactions that never commit.
class RawMemoryRow {
 public:
  explicit RawMemoryRow(const fs::path& path) {
    const std::string bytes = read_whole(path);
    const auto header = std::as_bytes(std::span(bytes)).first(kCheckedHeaderBytes);
    place_ = check_layout(header, bytes.size(), "test").value().place(SectionId::kMemory);
    const FileDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    mapping_ = boost::interprocess::mapped_region(file, boost::interprocess::read_write);
  }

  void publish(std::uint64_t stamp, std::uint64_t reserved_bytes) {
    MemoryRecord record;
    record.identity.stamp = stamp;
    record.reserved_bytes = reserved_bytes;
    std::uint64_t words[sizeof(record) / 8];
    std::memcpy(words, &record, sizeof(record));
    auto* row = static_cast<std::byte*>(mapping_.get_address()) + place_.offset_bytes;
    vitrine::shm::publish<MappedMemory>(
        {reinterpret_cast<std::uint64_t*>(row), reinterpret_cast<std::uint64_t*>(row + kLineBytes),
         slot_bytes(place_.record_bytes) / 8},
        words);
  }

 private:
  SectionPlace place_;
  boost::interprocess::mapped_region mapping_;
};

// Commits one number into rows of several tables, again and again, until told to stop.
void commit_linked_rows(SegmentWriter& writer, const std::atomic<bool>& is_over) {
  for (std::uint64_t number = 1; !is_over.load(std::memory_order_relaxed); ++number) {
    {
      Transaction transaction = writer.begin();
      PartitionRecord& partition = transaction.edit<PartitionRecord>(number % 3 * 20);
      partition.stage = PartitionStage::kPending;
      partition.reserved_bytes = number;
      transaction.edit<MemoryRecord>().reserved_bytes = number;
      transaction.edit<BuffersRecord>().pending_handles = number;
    }
    // Busy, not asleep: about a hundred thousand transactions a second.
    const std::uint64_t next_ns = monotonic_ns() + 10'000;
    while (monotonic_ns() < next_ns) {
    }
  }
}

std::uint64_t newest_partition_number(const Snapshot& snapshot) {
  std::uint64_t newest = 0;
  for (const auto& row : snapshot.rows<PartitionRecord>()) {
    newest = std::max(newest, row.reserved_bytes);
  }
  return newest;
}

}  // namespace

TEST_CASE("An attached segment tells whose it is") {
  SharedScratchFolder directory;
  const auto path = directory / "main.segment";
  const SegmentWriter writer = publish(small_segment(path));
  const SegmentReader reader = attach(path);
  const SegmentIdentity& identity = reader.identity();
  CHECK(identity.instance == "main");
  CHECK(identity.engine_version == "1.2.3");
  CHECK(identity.api_socket_path == "/nowhere/main.sock");
  CHECK(identity.incarnation == writer.incarnation());
  CHECK(identity.pid == static_cast<std::uint64_t>(::getpid()));
  CHECK(identity.boot_id == boot_id());
  CHECK(identity.schema_hash == schema_hash(schema_text()));
  CHECK(identity.schema_text == schema_text());
  CHECK(identity.schema == nullptr);
  CHECK(identity.event_capacity == 64);
  CHECK(reader.liveness().lock_held);
  CHECK(reader.liveness().name_linked);
}

TEST_CASE("A segment that nobody may write is enough") {
  SharedScratchFolder directory;
  const auto path = directory / "main.segment";
  SegmentOptions options = small_segment(path);
  options.mode = 0440;
  SegmentWriter writer = publish(options);
  writer.begin().edit<EngineRecord>().workers = 2;
  SegmentReader reader = attach(path);
  CHECK(snapshot_of(reader).engine().workers == 2);
}

TEST_CASE("What is not a plain file with one name is not attached") {
  SharedScratchFolder directory;
  const auto path = directory / "main.segment";
  const SegmentWriter writer = publish(small_segment(path));
  CHECK(attach_error(directory / "absent") == ErrorKind::kAbsent);
  CHECK(attach_error(directory / "absent/x") == ErrorKind::kAbsent);
  CHECK(attach_error(directory.path()) == ErrorKind::kUnreadable);
  fs::create_symlink(path, directory / "link");
  CHECK(attach_error(directory / "link") == ErrorKind::kUnreadable);
  REQUIRE(::mkfifo((directory / "pipe").c_str(), 0600) == 0);
  CHECK(attach_error(directory / "pipe") == ErrorKind::kUnreadable);
  fs::create_hard_link(path, directory / "second");
  CHECK(attach_error(path) == ErrorKind::kUnreadable);
}

TEST_CASE("In a directory that others can write, only files of trusted owners are attached") {
  if (::geteuid() != 0) {
    WARN("not tested: needs root to give a file away");
    return;
  }
  constexpr uid_t kStranger = 54321;
  SharedScratchFolder directory;
  const auto path = directory / "main.segment";
  const SegmentWriter writer = publish(small_segment(path));
  REQUIRE(::chown(path.c_str(), kStranger, kStranger) == 0);
  CHECK(SegmentReader::attach(path).has_value());
  REQUIRE(::chmod(directory.path().c_str(), 01777) == 0);
  CHECK(attach_error(path) == ErrorKind::kUnreadable);
  CHECK(SegmentReader::attach(path, {.owner = kStranger}).has_value());
}

TEST_CASE("A segment on a disk is attached only when that is asked for") {
  const auto path = fs::absolute("segment_reader_test.segment");
  struct statfs system {};
  REQUIRE(::statfs(path.parent_path().c_str(), &system) == 0);
  constexpr decltype(system.f_type) kTmpfs = 0x01021994;
  if (system.f_type == kTmpfs) {
    WARN("not tested: needs a build directory on a disk");
    return;
  }
  SharedScratchFolder directory;
  { const SegmentWriter writer = publish(small_segment(directory / "main.segment")); }
  write_whole(path, read_whole(directory / "main.segment"));
  CHECK(attach_error(path) == ErrorKind::kUnreadable);
  CHECK(SegmentReader::attach(path, {.any_filesystem = true}).has_value());
  CHECK(SegmentReader::open_file(path).has_value());
  fs::remove(path);
}

TEST_CASE("The file of a living engine is not read as a recording") {
  SharedScratchFolder directory;
  const auto path = directory / "main.segment";
  {
    const SegmentWriter writer = publish(small_segment(path));
    CHECK(SegmentReader::open_file(path).error().kind == ErrorKind::kInUse);
  }
  auto reader = SegmentReader::open_file(path);
  REQUIRE(reader.has_value());
  CHECK(reader->liveness().is_file);
  CHECK_FALSE(reader->liveness().lock_held);
}

TEST_CASE("The lock goes with the writer, and the name with a new segment") {
  SharedScratchFolder directory;
  const auto path = directory / "main.segment";
  std::optional<SegmentWriter> writer = publish(small_segment(path));
  const SegmentReader reader = attach(path);
  const SegmentReader other_reader = attach(path);
  writer.reset();
  CHECK_FALSE(reader.liveness().lock_held);
  CHECK(reader.liveness().name_linked);
  writer = publish(small_segment(path));
  CHECK_FALSE(reader.liveness().name_linked);
}

TEST_CASE("A snapshot holds present rows in row order, with their true row numbers") {
  SharedScratchFolder directory;
  const auto path = directory / "main.segment";
  SegmentWriter writer = publish(small_segment(path));
  SegmentReader reader = attach(path);
  CHECK(snapshot_of(reader).rows<JobRecord>().empty());
  {
    Transaction transaction = writer.begin();
    for (const std::uint32_t row : {5U, 1U, 3U}) {
      JobRecord& job = transaction.recycle<JobRecord>(row);
      job.job = Id{row};
      job.state = JobState::kQueued;
    }
    for (const std::uint32_t number : {2U, 0U, 1U}) {
      PartitionRecord& partition = transaction.recycle<PartitionRecord>(10 - number);
      partition.job = Id{3};
      partition.partition = number;
      partition.stage = PartitionStage::kPending;
    }
  }
  writer.begin().clear<JobRecord>(3);
  const Snapshot snapshot = snapshot_of(reader);
  CHECK(snapshot.commit == 2);
  CHECK(snapshot.consistent);
  REQUIRE(snapshot.rows<JobRecord>().size() == 2);
  CHECK(snapshot.rows<JobRecord>()[0].identity.row == 1);
  CHECK(snapshot.rows<JobRecord>()[1].identity.row == 5);
  const auto partitions = snapshot.partitions_of(Id{3});
  REQUIRE(partitions.size() == 3);
  CHECK(partitions[2].partition == 2);
}

TEST_CASE("A transaction that is open is not in a snapshot, in no part") {
  SharedScratchFolder directory;
  const auto path = directory / "main.segment";
  SegmentWriter writer = publish(small_segment(path));
  SegmentReader reader = attach(path);
  writer.begin().edit<MemoryRecord>().reserved_bytes = 7;
  {
    Transaction transaction = writer.begin();
    transaction.edit<MemoryRecord>().reserved_bytes = 8;
    transaction.append(Event{});
    const Snapshot snapshot = snapshot_of(reader);
    CHECK(snapshot.memory().reserved_bytes == 7);
    CHECK(snapshot.last_event_sequence == 0);
    CHECK(reader.events_after(0, 10)->events.empty());
  }
  const Snapshot snapshot = snapshot_of(reader);
  CHECK(snapshot.memory().reserved_bytes == 8);
  CHECK(snapshot.last_event_sequence == 1);
  CHECK(reader.commit() == 2);
}

TEST_CASE("A row published by a transaction that its writer did not live to commit is not seen") {
  SharedScratchFolder directory;
  const auto path = directory / "main.segment";
  SegmentWriter writer = publish(small_segment(path));
  writer.begin().edit<MemoryRecord>().reserved_bytes = 7;
  SegmentReader reader = attach(path);
  RawMemoryRow row(path);
  row.publish(2, 8);
  CHECK(snapshot_of(reader).memory().reserved_bytes == 7);
  CHECK(snapshot_of(reader).tries == 1);
}

TEST_CASE("A snapshot that cannot be of one moment says so, and is bounded") {
  SharedScratchFolder directory;
  const auto path = directory / "main.segment";
  SegmentWriter writer = publish(small_segment(path));
  writer.begin().edit<MemoryRecord>().reserved_bytes = 7;
  SegmentReader reader = attach(path);
  RawMemoryRow row(path);
  // Every version that is kept belongs to a later commit than the segment's.
  for (std::uint64_t i = 0; i < kSlots; ++i) row.publish(2 + i, 100 + i);
  const Snapshot snapshot = snapshot_of(reader);
  CHECK_FALSE(snapshot.consistent);
  CHECK(snapshot.tries == 64);
  CHECK(snapshot.memory().reserved_bytes == 103);
}

TEST_CASE("While a writer commits flat out every consistent snapshot is one moment") {
  SharedScratchFolder directory;
  const auto path = directory / "main.segment";
  SegmentWriter writer = publish(small_segment(path));
  SegmentReader reader = attach(path);
  std::atomic<bool> is_over = false;
  std::thread committer([&] { commit_linked_rows(writer, is_over); });
  constexpr int kWanted = 5000;
  int consistent = 0;
  int retried = 0;
  int torn = 0;
  Snapshot snapshot;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while ((consistent < kWanted || retried == 0) && std::chrono::steady_clock::now() < deadline) {
    const bool is_read = reader.snapshot(snapshot).has_value();
    if (!is_read) break;
    if (!snapshot.consistent) continue;
    ++consistent;
    retried += snapshot.tries > 1;
    const std::uint64_t number = snapshot.commit;
    torn += snapshot.memory().reserved_bytes != number;
    torn += snapshot.buffers().pending_handles != number;
    torn += newest_partition_number(snapshot) != number;
  }
  is_over = true;
  committer.join();
  CHECK(torn == 0);
  CHECK(consistent >= kWanted);
  CHECK(retried > 0);
}

TEST_CASE("Ages span the difference between two clocks by way of the heartbeat") {
  Snapshot snapshot;
  snapshot.heartbeat_monotonic_ns = 1'000;
  snapshot.heartbeat_age_ns = 50;
  snapshot.unix_minus_monotonic_ns = 1'000'000;
  CHECK(snapshot.age_ns(Instant{900}) == 150);
  CHECK(snapshot.age_ns(Instant{1'100}) == -50);
  CHECK(snapshot.unix_ns_of(Instant{900}) == 1'000'900);
  CHECK(snapshot.taken_unix_ns() == 1'001'050);
}

}  // namespace vitrine::shm
