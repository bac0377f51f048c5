// SPDX-License-Identifier: Apache-2.0
// Segments of nonsense: every table, ring and single word filled with what an engine may write and
// with what it may not, by a seed; for readers that must agree on what they show.
//
// Why  times are such that no reader counts time since the last beat (tests/shm/dead_segment.h), so
//      that the answer is the same for all of them.
#pragma once

#include <random>
#include <string>

#include "tests/shm/dead_segment.h"
#include "tests/shm/small_segment.h"

namespace vitrine::shm {

class RandomSegment {
 public:
  explicit RandomSegment(std::uint64_t seed) : random_(seed) {}

  // The bytes of a dead segment, which is written in `folder` and removed again.
  std::string bytes(const std::filesystem::path& folder) {
    const auto path = folder / "random.segment";
    {
      SegmentWriter writer = publish(options_of(path));
      for (std::uint64_t i = 0, count = below(40); i < count; ++i) change(writer);
      writer.set_life(static_cast<EngineLife>(below(8)), static_cast<std::uint32_t>(number()));
      if (one_in(2)) writer.note_signal(static_cast<int>(below(65)));
      if (one_in(2)) writer.write_last_words(record_of<LastWords>(kLastWordsFields));
    }
    std::string out = read_whole(path);
    std::filesystem::remove(path);
    settle(out);
    return out;
  }

 private:
  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  bool one_in(std::uint64_t count) { return below(count) == 0; }
  std::uint32_t rows(std::uint32_t end) { return static_cast<std::uint32_t>(below(end)) + 1; }

  // Small, great or anything.
  std::uint64_t number() {
    switch (below(4)) {
      case 0:
        return 0;
      case 1:
        return below(1'000);
      case 2:
        return ~std::uint64_t{0} - below(3);
      default:
        return random_();
    }
  }
  std::uint64_t instant_ns() {
    return one_in(3) ? number() : kDeadBeatNs - below(100'000'000'000'000) + below(1'000'000);
  }
  // Plain, well-formed, cut or broken UTF-8, and control characters.
  std::string text(std::size_t size_bytes) {
    static const std::string kParts[] = {
        "worker-1", "a",        "\xC3\xA9",     "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xFF",
        "\xE2\x82", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90",     "\"\\\n\t\x01\x7F", "\xF0\x9F\x98"};
    std::string out;
    const std::size_t end = below(2 * size_bytes);
    while (out.size() < end) out += kParts[below(std::size(kParts))];
    out.resize(size_bytes);
    return out;
  }

  void fill(const Field& field, char* to) {
    std::uint64_t word = number();
    if (field.type == FieldType::kText) {
      const std::string bytes = text(field.size_bytes);
      std::memcpy(to, bytes.data(), bytes.size());
      return;
    }
    if (field.type == FieldType::kReserved) return;
    if (field.type == FieldType::kHistogram) {
      for (std::size_t at = 0; at < field.size_bytes; at += 8) {
        word = number();
        std::memcpy(to + at, &word, 8);
      }
      return;
    }
    if (field.type == FieldType::kEnum && !one_in(8)) word = below(field.words.size());
    if (field.type == FieldType::kInstant) word = instant_ns();
    if (field.type == FieldType::kIndex && !one_in(4)) word = below(5);
    std::memcpy(to, &word, field.size_bytes);
  }

  template <class Record>
  Record record_of(std::span<const Field> fields) {
    Record record{};
    for (const Field& field : fields) {
      fill(field, reinterpret_cast<char*>(&record) + field.offset_bytes);
    }
    return record;
  }

  template <class Record>
  void change_row(Transaction& open) {
    const auto row = static_cast<std::uint32_t>(below(open.capacity<Record>()));
    if (one_in(8)) return open.clear<Record>(row);
    Record& record = one_in(3) ? open.recycle<Record>(row) : open.edit<Record>(row);
    const Identity identity = record.identity;
    record = record_of<Record>(TableOf<Record>::kFields);
    record.identity = identity;
    for (std::uint64_t& word : open.edit_extra<Record>(row)) word = number();
  }

  // One transaction.
  void change(SegmentWriter& writer) {
    Transaction open = writer.begin();
    for_each_table([&]<class Record>() {
      for (std::uint64_t i = 0, count = below(4); i < count; ++i) change_row<Record>(open);
    });
    for (std::uint64_t i = 0, count = below(4); i < count; ++i) {
      open.append(record_of<Event>(kEventFields));
      open.append(record_of<HistorySample>(kHistoryFields));
    }
  }

  SegmentOptions options_of(const std::filesystem::path& path) {
    SegmentOptions options = small_segment(path);
    options.capacity = {.jobs = rows(8),
                        .partitions = rows(32),
                        .workers = rows(4),
                        .devices = rows(2),
                        .allocations = rows(4),
                        .queues = rows(8),
                        .counters = rows(3),
                        .threads = rows(8),
                        .limiters = rows(4),
                        .stage_times = rows(8),
                        .settings = rows(8),
                        .errors = rows(4),
                        .events = rows(64),
                        .history = rows(16)};
    for (std::uint64_t i = 0, count = below(4); i < count; ++i) {
      const auto type = static_cast<FieldType>(below(2) == 0 ? 1 : 6);
      options.extra_fields.push_back({.table = static_cast<SectionId>(2 + below(10)),
                                      .name = "x_" + std::to_string(i),
                                      .type = type,
                                      .size_bytes = type == FieldType::kText ? 8 * rows(4) : 8,
                                      .help = "nonsense \xC3\xA9"});
    }
    return options;
  }

  void settle(std::string& bytes) {
    settle_dead(bytes);
    auto header = part_at<Header>(bytes, 0);
    header.pid = number();
    header.uid = static_cast<std::uint32_t>(number());
    header.created_unix_ns = number();
    const std::string host = text(header.host.size());
    std::memcpy(header.host.data(), host.data(), host.size());
    set_part(bytes, 0, header);
    auto hot = part_at<HotLines>(bytes, kHotLinesOffset);
    hot.heartbeat.count = number();
    hot.heartbeat.interval_ns = number();
    // Its engine may have died with a transaction open, long before what was published last.
    hot.commit.commit -= std::min(hot.commit.commit, below(5));
    if (one_in(4)) {  // a wall clock before 1970
      hot.time_anchor.unix_minus_monotonic_ns = 0 - kDeadBeatNs - below(1ULL << 62);
    }
    set_part(bytes, kHotLinesOffset, hot);
  }

  std::mt19937_64 random_;
};

}  // namespace vitrine::shm
