// SPDX-License-Identifier: Apache-2.0
#include "shm/record_ring.h"

#include <atomic>
#include <thread>

#include "shm/segment_layout_check.h"
#include "shm/segment_reader.h"
#include "tests/shm/small_segment.h"

namespace vitrine::shm {
namespace {

constexpr std::uint64_t kRing = 64;  // of small_segment()

void append(SegmentWriter& writer, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    Transaction transaction = writer.begin();
    Event event;
    event.type = EventType::kSubmit;
    event.argument = transaction.peek<MemoryRecord>(0).reserved_bytes;
    transaction.edit<MemoryRecord>().reserved_bytes += 1;
    transaction.append(event);
  }
}

struct Follower {
  SegmentReader reader;
  std::uint64_t last = 0;
  std::uint64_t seen = 0;
  std::uint64_t missed = 0;
  std::uint64_t wrong = 0;

  void read(std::size_t limit) {
    const auto batch = reader.events_after(last, limit);
    if (!batch) {
      ++wrong;
      return;
    }
    std::uint64_t expected = last + batch->missed;
    for (const Event& event : batch->events) {
      ++expected;
      wrong += event.sequence != expected || event.argument != expected - 1;
    }
    wrong += batch->last_sequence != expected;
    seen += batch->events.size();
    missed += batch->missed;
    last = batch->last_sequence;
  }
};

// Writes into the ring of a segment, past its writer: `offset` counts from the ring's head.
void damage_ring(const std::filesystem::path& path, std::size_t offset, const std::string& bytes) {
  const std::string whole = read_whole(path);
  const auto header = std::as_bytes(std::span(whole)).first(kCheckedHeaderBytes);
  const auto place = check_layout(header, whole.size(), "test").value().place(SectionId::kEvents);
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(place.offset_bytes + offset));
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

struct Followed {
  SharedScratchFolder directory;
  SegmentWriter writer = publish(small_segment(directory / "main.segment"));
  Follower follower{SegmentReader::attach(directory / "main.segment").value()};
};

}  // namespace

TEST_CASE("A follower that keeps up sees every event once, in order") {
  Followed followed;
  Follower& follower = followed.follower;
  for (int i = 0; i < 20; ++i) {
    append(followed.writer, 10);
    follower.read(4);
    follower.read(100);
  }
  CHECK(follower.seen == 200);
  CHECK(follower.missed == 0);
  CHECK(follower.wrong == 0);
}

TEST_CASE("A follower that was away knows exactly how many events it missed") {
  Followed followed;
  Follower& follower = followed.follower;
  append(followed.writer, kRing + 100);
  follower.read(5);
  // One slot may be under the writer's hand at any time, so the ring keeps one event less.
  CHECK(follower.missed == 101);
  CHECK(follower.seen == 5);
  follower.read(1000);
  CHECK(follower.seen == kRing - 1);
  CHECK(follower.missed == 101);
  follower.read(1000);
  CHECK(follower.seen == kRing - 1);
  CHECK(follower.wrong == 0);
}

TEST_CASE("A follower that asks for what has not happened yet gets nothing") {
  Followed followed;
  append(followed.writer, 3);
  const auto batch = followed.follower.reader.events_after(1000, 10);
  REQUIRE(batch.has_value());
  CHECK(batch->events.empty());
  CHECK(batch->missed == 0);
  CHECK(batch->last_sequence == 1000);
}

TEST_CASE("A ring whose bytes are not what its writer left is an error, not an empty ring") {
  Followed followed;
  append(followed.writer, 20);
  const std::string bytes = GENERATE(std::string(8, '\0'),    // the head alone, lost
                                     std::string(8, '\x5a'),  // the head alone, noise
                                     std::string(kLineBytes + kRing * 64, '\x5a'));  // everything
  damage_ring(followed.writer.path(), 0, bytes);
  for (const std::uint64_t after : {0, 5}) {
    const auto batch = followed.follower.reader.events_after(after, 100);
    REQUIRE_FALSE(batch.has_value());
    CHECK(batch.error().kind == ErrorKind::kCorrupt);
  }
}

TEST_CASE("A transaction that fills the whole ring leaves the state before it readable") {
  Followed followed;
  append(followed.writer, 10);
  Snapshot snapshot;
  {
    Transaction transaction = followed.writer.begin();
    for (std::uint64_t i = 0; i < kRing + 5; ++i) transaction.append(Event{});
    REQUIRE(followed.follower.reader.snapshot(snapshot).has_value());
    CHECK(snapshot.consistent);
    CHECK(snapshot.tries == 1);
    CHECK(snapshot.commit == 10);
    CHECK(snapshot.last_event_sequence == 10 + 5 + 1);  // the newest that was overwritten
  }
  REQUIRE(followed.follower.reader.snapshot(snapshot).has_value());
  CHECK(snapshot.commit == 11);
  CHECK(snapshot.last_event_sequence == 10 + kRing + 5);
}

TEST_CASE("While events are appended flat out each is seen or counted as missed") {
  constexpr std::uint64_t kEvents = 300'000;
  Followed followed;
  Follower& follower = followed.follower;
  std::atomic<bool> is_over = false;
  std::thread appender([&] {
    append(followed.writer, kEvents);
    is_over = true;
  });
  while (!is_over) follower.read(follower.last % 40);
  appender.join();
  follower.read(kRing);
  CHECK(follower.wrong == 0);
  CHECK(follower.seen + follower.missed == kEvents);
  CHECK(follower.seen >= kRing - 1);
}

}  // namespace vitrine::shm
