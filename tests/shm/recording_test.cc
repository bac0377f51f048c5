// SPDX-License-Identifier: Apache-2.0
// A recording gives back each moment that was recorded, and never more than is whole in it.
#include <atomic>
#include <random>
#include <thread>

#include "shm/attachment.h"
#include "shm/frame_player.h"
#include "shm/recording_reader.h"
#include "tests/shm/recorded_segment.h"
#include "tests/shm/recording_walk.h"

namespace vitrine::shm {
namespace {

constexpr std::uint32_t kSeed = 20261130;

// Some transactions of a busy engine, of random size.
void work(SegmentWriter& writer, std::mt19937& random, int transactions) {
  for (int i = 0; i < transactions; ++i) {
    Transaction transaction = writer.begin();
    const std::uint32_t row = random() % 8;
    auto& job =
        random() % 4 == 0 ? transaction.recycle<JobRecord>(row) : transaction.edit<JobRecord>(row);
    job.job = {random()};
    job.state = static_cast<JobState>(random() % 11);
    job.failure.assign("seed " + std::to_string(random()));
    auto& partition = transaction.edit<PartitionRecord>(random() % 64);
    partition.stage = PartitionStage::kSynthesizing;
    partition.reserved_bytes = random();
    transaction.edit<MemoryRecord>().reserved_bytes = random();
    for (std::uint32_t n = random() % 4; n > 0; --n) {
      Event event;
      event.time = {monotonic_ns()};
      event.type = EventType::kGpuStart;
      event.argument = random();
      transaction.append(event);
    }
  }
  writer.beat();
}

struct Scene {
  SharedScratchFolder folder;
  SegmentWriter writer = publish(small_segment(folder / "main.segment"));
  RecordedSegment recorded{folder / "main.segment"};
  std::vector<Snapshot> truth;

  explicit Scene(int frames = 0, int transactions = 5) {
    writer.set_life(EngineLife::kReady, 0);
    std::mt19937 random(kSeed);
    for (int i = 0; i < frames; ++i) {
      work(writer, random, transactions);
      truth.push_back(recorded.take_frame());
    }
  }
  const std::string& file() const { return recorded.file(); }
};

SegmentReader reader_of(const std::string& file) {
  auto recording = RecordingReader::of_bytes(bytes_of(file), "test");
  INFO((recording ? std::string() : recording.error().text));
  REQUIRE(recording.has_value());
  auto reader = SegmentReader::of_recording(std::move(*recording));
  INFO((reader ? std::string() : reader.error().text));
  REQUIRE(reader.has_value());
  return std::move(*reader);
}

Snapshot snapshot_of(SegmentReader& reader) {
  Snapshot snapshot;
  REQUIRE(reader.snapshot(snapshot).has_value());
  return snapshot;
}

std::string error_of(const std::string& file) {
  const auto recording = RecordingReader::of_bytes(bytes_of(file), "rec");
  return recording ? "" : recording.error().text;
}

TEST_CASE("every frame of a recording shows the moment that was recorded") {
  Scene scene(40);
  scene.recorded.finish();
  SegmentReader reader = reader_of(scene.file());
  for (std::size_t i = 0; i < scene.truth.size(); ++i) {
    INFO("frame " << i + 1);
    CHECK(shows_same_state(snapshot_of(reader), scene.truth[i]));
    CHECK(reader.recording()->moment().frame == i + 1);
    CHECK(reader.next_frame() == (i + 1 < scene.truth.size()));
  }
  CHECK(reader.recording()->end() == RecordingEnd::kFinished);
  CHECK(reader.recording()->missed_entries() == 0);
}

TEST_CASE("the events of a recording are those of the engine, in order and whole") {
  Scene scene(10);
  const auto live = scene.recorded.reader().events_after(0, 1000).value();
  SegmentReader reader = reader_of(scene.file());
  while (reader.next_frame()) {
  }
  const auto recorded = reader.events_after(0, 1000).value();
  REQUIRE_FALSE(recorded.events.empty());
  CHECK(recorded.last_sequence == live.last_sequence);
  REQUIRE(recorded.events.size() == live.events.size());
  CHECK(std::memcmp(recorded.events.data(), live.events.data(),
                    live.events.size() * sizeof(Event)) == 0);
}

TEST_CASE("events that were overwritten before a frame are counted, and the others keep place") {
  Scene scene(1);
  const std::uint64_t before = scene.truth.back().last_event_sequence;
  std::mt19937 random(kSeed);
  work(scene.writer, random, 200);  // the ring has 64 places
  scene.truth.push_back(scene.recorded.take_frame());
  SegmentReader reader = reader_of(scene.file());
  REQUIRE(reader.next_frame());
  const std::uint64_t last = scene.truth.back().last_event_sequence;
  REQUIRE(last > before + 64);
  CHECK(reader.recording()->missed_entries() == last - before - 63);
  const auto events = reader.events_after(last - 10, 100).value();
  REQUIRE(events.events.size() == 10);
  CHECK(events.events.back().type == EventType::kGpuStart);
}

TEST_CASE("a frame holds only what changed") {
  Scene scene(1, 50);
  const std::size_t first = scene.file().size();
  scene.recorded.take_frame();
  CHECK(scene.file().size() - first <= sizeof(ChunkHeader) + sizeof(FrameHeader));
  {
    Transaction transaction = scene.writer.begin();
    transaction.edit<MemoryRecord>().waiters = 3;
  }
  const std::size_t second = scene.file().size();
  const Snapshot truth = scene.recorded.take_frame();
  CHECK(scene.file().size() - second < 2 * sizeof(MemoryRecord) + 256);
  SegmentReader reader = reader_of(scene.file());
  while (reader.next_frame()) {
  }
  CHECK(shows_same_state(snapshot_of(reader), truth));
}

TEST_CASE("a recording cut at any byte is readable up to its last whole chunk") {
  Scene scene(3, 2);
  scene.recorded.finish();
  const auto& ends = scene.recorded.ends();  // of the segment, three frames, and the end
  std::size_t readable = 0;
  for (std::size_t size = 0; size <= scene.file().size(); ++size) {
    const std::string cut = scene.file().substr(0, size);
    const std::size_t chunks = static_cast<std::size_t>(
        std::ranges::count_if(ends, [&](auto end) { return end <= size; }));
    const std::uint64_t frames = std::min<std::uint64_t>(chunks == 0 ? 0 : chunks - 1, 3);
    auto recording = RecordingReader::of_bytes(bytes_of(cut), "rec");
    if (recording.has_value() != (chunks > 0)) FAIL_CHECK("cut at " << size);
    if (!recording) continue;
    std::uint64_t seen = 0;
    while (recording->next()) ++seen;
    const bool is_at_end = size == ends[chunks - 1];
    const RecordingEnd expected = chunks == ends.size() ? RecordingEnd::kFinished
                                  : is_at_end           ? RecordingEnd::kOpen
                                                        : RecordingEnd::kCut;
    if (seen != frames || recording->end() != expected) FAIL_CHECK("cut at " << size);
    ++readable;
  }
  CHECK(readable == scene.file().size() + 1 - ends[0]);  // all that hold the segment's chunk
}

TEST_CASE("a changed byte ends the recording before its chunk, and reading never fails") {
  Scene scene(4, 3);
  scene.recorded.finish();
  std::mt19937 random(kSeed);
  const auto& ends = scene.recorded.ends();
  for (int i = 0; i < 500; ++i) {
    CAPTURE(i);
    std::string file = scene.file();
    const std::size_t at = ends[0] + random() % (file.size() - ends[0]);
    file[at] = static_cast<char>(file[at] ^ (1 << random() % 8));
    const auto whole = static_cast<std::uint64_t>(
        std::ranges::count_if(ends, [&](auto end) { return end <= at; }) - 1);
    // The last word of a chunk's header is reserved, and so is not looked at.
    const std::uint64_t seen = walk_recording(bytes_of(file));
    CHECK((seen >= whole && seen <= 4));
  }
}

// A frame whose checksum holds is still not believed.
std::string with_payload_word(const std::string& file, std::size_t chunk_begin, std::size_t word,
                              std::uint64_t value) {
  std::string out = file;
  ChunkHeader header;
  std::memcpy(&header, out.data() + chunk_begin, sizeof(header));
  char* payload = out.data() + chunk_begin + sizeof(header);
  std::memcpy(payload + word * 8, &value, sizeof(value));
  header.checksum = checksum_of(header, payload);
  std::memcpy(out.data() + chunk_begin, &header, sizeof(header));
  return out;
}

TEST_CASE("any word of a frame may be anything under a right checksum") {
  Scene scene(2, 2);
  std::mt19937_64 random(kSeed);
  const std::size_t begin = scene.recorded.ends()[0];
  ChunkHeader header;
  std::memcpy(&header, scene.file().data() + begin, sizeof(header));
  std::uint64_t refused = 0;
  for (std::size_t word = 0; word < header.payload_bytes / 8; ++word) {
    const std::uint64_t values[] = {0, ~std::uint64_t{0}, random(), random() % 64};
    for (const std::uint64_t value : values) {
      const std::string file = with_payload_word(scene.file(), begin, word, value);
      refused += walk_recording(bytes_of(file)) == 0;
    }
  }
  CHECK(refused > 0);
}

TEST_CASE("any word of the recorded header may be anything under a right checksum") {
  Scene scene(1, 2);
  std::mt19937_64 random(kSeed);
  const std::size_t begin = sizeof(RecordingFileHeader);
  std::uint64_t refused = 0;
  // Header, and the section table with some entries after the last.
  for (std::size_t word = 0; word < (kSectionTableOffset + 16 * sizeof(SectionEntry)) / 8; ++word) {
    const std::uint64_t values[] = {0, ~std::uint64_t{0}, random(), random() % 4096 * 8};
    for (const std::uint64_t value : values) {
      const std::string file = with_payload_word(scene.file(), begin, word, value);
      refused += walk_recording(bytes_of(file)) == 0;
    }
  }
  CHECK(refused > 0);
}

TEST_CASE("what is no recording, or one of another machine or version, is named") {
  Scene scene(1);
  CHECK_THAT(error_of("VITRINE"), Catch::Contains("is not a recording"));
  std::string file = scene.file();
  std::swap(file[8], file[11]);
  std::swap(file[9], file[10]);
  CHECK_THAT(error_of(file), Catch::Contains("byte order"));
  file = scene.file();
  file[12] = 9;
  CHECK_THAT(error_of(file), Catch::Contains("recording version 9"));
  CHECK_THAT(error_of(scene.file().substr(0, 100)), Catch::Contains("before its segment"));
}

TEST_CASE("sections and members that this program does not know are recorded and played") {
  // A segment with one more table, one more ring and plain words behind its end, and records of
  // the memory table one word longer than ours: as a newer engine would lay it out.
  Scene scene;
  const auto old = scene.recorded.reader().bytes();
  const std::size_t extra = old.size();
  std::vector<std::uint64_t> words((old.size() + 3 * kPageBytes) / 8);
  std::byte* segment = reinterpret_cast<std::byte*>(words.data());
  std::memcpy(segment, old.data(), old.size());
  Header header;
  std::memcpy(&header, segment, sizeof(header));
  const SectionEntry added[] = {{90, 24, static_cast<std::uint32_t>(record_stride_bytes(24)), 4,
                                 extra, SectionKind::kTable, 0},
                                {91, 24, 24, 8, extra + kPageBytes, SectionKind::kRing, 0},
                                {92, 9, 9, 1, extra + 2 * kPageBytes, SectionKind::kText, 0}};
  std::memcpy(segment + kSectionTableOffset + header.section_count * sizeof(SectionEntry), added,
              sizeof(added));
  header.section_count += 3;
  header.fixed.total_bytes += 3 * kPageBytes;
  std::memcpy(segment, &header, sizeof(header));
  const auto bytes = std::as_bytes(std::span(words));
  const RawLayout layout = raw_layout_of(bytes);
  CHECK(layout.find(90)->shape == SectionShape::kTable);
  CHECK(layout.find(91)->shape == SectionShape::kRing);
  CHECK(layout.find(92)->shape == SectionShape::kPlainWords);
  // Row 2 of the table, two entries of the ring, and a text.
  std::uint64_t* table = words.data() + extra / 8;
  std::uint64_t* row = table + 2 * record_stride_bytes(24) / 8;
  table[1] = 3;
  const std::uint64_t stamp = 1;
  words[(kHotLinesOffset + offsetof(HotLines, commit.commit)) / 8] = stamp;
  const std::uint64_t payload[] = {stamp, 2, 4711};
  publish<MappedMemory>({row, row + kLineBytes / 8, slot_bytes(24) / 8}, payload);
  std::uint64_t* ring = words.data() + (extra + kPageBytes) / 8;
  for (const std::uint64_t sequence : {1, 2}) {
    const std::uint64_t entry[] = {stamp, sequence, 100 + sequence};
    std::memcpy(ring + kLineBytes / 8 + (sequence - 1) * 3, entry, sizeof(entry));
  }
  ring[0] = 2;
  std::memcpy(segment + extra + 2 * kPageBytes, "effective", 9);

  RawCopy copy(layout, bytes);
  RecordingEncoder encoder(layout);
  std::string file;
  const auto append = [&](std::span<const std::byte> more) {
    file.append(reinterpret_cast<const char*>(more.data()), more.size());
  };
  append(encoder.begin());
  REQUIRE(copy.run() == RawCopy::Outcome::kDone);
  append(encoder.frame(copy.frame(), {}));
  auto recording = RecordingReader::of_bytes(bytes_of(file), "newer").value();
  REQUIRE(recording.next());
  RawCopy replayed(recording.layout(), recording.image());
  REQUIRE(replayed.run() == RawCopy::Outcome::kDone);
  for (std::size_t i = 0; i < layout.sections.size(); ++i) {
    INFO("section " << layout.sections[i].id);
    const RawContent& before = copy.frame().sections[i];
    const RawContent& after = replayed.frame().sections[i];
    CHECK(after.first == before.first);
    const std::size_t used = layout.sections[i].shape == SectionShape::kPlainWords
                                 ? before.words.size()
                                 : before.count * layout.sections[i].record_words();
    CHECK(std::vector(after.words.begin(), after.words.begin() + used) ==
          std::vector(before.words.begin(), before.words.begin() + used));
  }
}

TEST_CASE("a recording shows the verdict of its moment, and of when that was") {
  Scene scene(2);
  const auto path = scene.folder / "main.rec";
  const auto verdict_of = [&](std::uint32_t flags) {
    scene.recorded.take_frame(flags);
    write_whole(path, scene.file());
    Target target;
    target.file = path;
    Attachment attachment(target);
    const Observation& look = attachment.observe_settled();
    REQUIRE(look.snapshot.has_value());
    return look.verdict;
  };
  const Verdict alive = verdict_of(kFrameLockHeld | kFrameNameLinked);
  CHECK(is_alive(alive.word));
  CHECK_THAT(alive.reason, Catch::Contains("recorded 20") && Catch::Contains("frame 3") &&
                               Catch::Contains("not finished"));
  const Verdict dead = verdict_of(kFrameNameLinked);
  CHECK(dead.word == VerdictWord::kDead);
}

TEST_CASE("a heartbeat that stood while it was recorded reads as hung") {
  Scene scene(1);
  std::string file = scene.file();
  const std::size_t begin = file.size();
  scene.recorded.take_frame();
  // The second frame came a minute later, says its header.
  FrameHeader header;
  std::memcpy(&header, scene.file().data() + begin + sizeof(ChunkHeader), sizeof(header));
  file = with_payload_word(scene.file(), begin, offsetof(FrameHeader, taken_engine_ns) / 8,
                           header.taken_engine_ns + 60'000'000'000);
  write_whole(scene.folder / "main.rec", file);
  Target target;
  target.file = scene.folder / "main.rec";
  Attachment attachment(target);
  const Observation& look = attachment.observe_settled();
  CHECK(look.verdict.word == VerdictWord::kHung);
  CHECK(look.snapshot->heartbeat_age_ns >= 60'000'000'000);
}

TEST_CASE("frames taken under a working engine are each one moment") {
  Scene scene;
  std::atomic<bool> stop{false};
  std::thread engine([&] {
    std::mt19937 random(kSeed);
    while (!stop) {
      Transaction transaction = scene.writer.begin();
      const std::uint64_t number = random();
      transaction.edit<MemoryRecord>().reserved_bytes = number;
      transaction.edit<PartitionRecord>(63).stage = PartitionStage::kPending;
      transaction.edit<PartitionRecord>(63).reserved_bytes = number;
    }
  });
  const RawLayout layout = raw_layout_of(scene.recorded.reader().bytes());
  RawCopy copy(layout, scene.recorded.reader().bytes());
  RecordingEncoder encoder(layout);
  std::string file;
  const auto append = [&](std::span<const std::byte> more) {
    file.append(reinterpret_cast<const char*>(more.data()), more.size());
  };
  append(encoder.begin());
  int frames = 0;
  for (int i = 0; i < 2000; ++i) {
    if (copy.run() != RawCopy::Outcome::kDone) continue;
    append(encoder.frame(copy.frame(), {}));
    ++frames;
  }
  stop = true;
  engine.join();
  REQUIRE(frames > 0);
  SegmentReader reader = reader_of(file);
  do {
    const Snapshot snapshot = snapshot_of(reader);
    if (snapshot.rows<PartitionRecord>().empty()) continue;
    if (snapshot.memory().reserved_bytes != snapshot.rows<PartitionRecord>()[0].reserved_bytes) {
      FAIL("a frame mixes two transactions");
    }
  } while (reader.next_frame());
  CHECK(reader.recording()->moment().frame == static_cast<std::uint64_t>(frames));
}

}  // namespace
}  // namespace vitrine::shm
