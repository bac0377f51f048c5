// SPDX-License-Identifier: Apache-2.0
#include "shm/snapshot_copy.h"

#include <algorithm>
#include <cstring>

#include "shm/catalogue.h"

namespace vitrine::shm {
namespace {

// How often a row that is lapped while it is copied is tried again for its newest version.
constexpr int kNewestTries = 16;

// Words behind a record's own members, of the longest record that is copied.
constexpr std::size_t kEndWordsMax = 128;

RecordWords<const std::uint64_t> words_of(const SectionPlace& place, const std::byte* table,
                                          std::uint32_t row) noexcept {
  const std::byte* line = table + std::size_t{row} * place.stride_bytes;
  return {reinterpret_cast<const std::uint64_t*>(line),
          reinterpret_cast<const std::uint64_t*>(line + kLineBytes),
          slot_bytes(place.record_bytes) / 8};
}

std::uint32_t rows_ever_used(const SectionPlace& place, const std::byte* table) noexcept {
  if (place.count == 0) return 0;
  const auto& told = reinterpret_cast<const std::uint64_t*>(table)[1];
  const std::uint64_t used = load_rows_used<MappedMemory>(told);
  return used == 0 || used > place.count ? place.count : static_cast<std::uint32_t>(used);
}

// Calls copy(row) for every row in use. With kAnyCommit a row that stays busy is left out and
// counted; otherwise the walk ends at the first one, with false.
template <class Copy>
bool walk(std::uint32_t rows, std::uint64_t commit, std::uint32_t& busy_rows, Copy copy) noexcept {
  for (std::uint32_t row = 0; row < rows; ++row) {
    ReadOutcome outcome = copy(row);
    if (outcome == ReadOutcome::kBusy && commit != kAnyCommit) return false;
    for (int i = 0; outcome == ReadOutcome::kBusy && i < kNewestTries; ++i) outcome = copy(row);
    if (outcome == ReadOutcome::kBusy) ++busy_rows;
  }
  return true;
}

// Words of a record's own members that the segment has, and of those behind them that its schema
// names.
template <class Record>
TableCopy<Record> table_copy_of(const SegmentLayout& layout, const std::byte* segment,
                                const SegmentSchema* schema) {
  constexpr SectionId kSection = TableOf<Record>::kSection;
  const SectionPlace& place = layout.place(kSection);
  const std::size_t told_bytes = schema == nullptr ? sizeof(Record) : schema->own_bytes(kSection);
  const std::size_t own_words = std::min<std::size_t>(place.record_bytes, told_bytes) / 8;
  const bool has_ends = schema != nullptr && !schema->unknown_fields(kSection).empty();
  const std::size_t end_words =
      has_ends ? std::min(place.record_bytes / 8 - own_words, kEndWordsMax) : 0;
  return TableCopy<Record>(place, segment, own_words, end_words);
}

}  // namespace

// Appends a row when it is present.
template <class Record>
ReadOutcome TableCopy<Record>::copy_row(std::uint32_t row, std::uint64_t commit) noexcept {
  constexpr std::size_t kOwnWords = sizeof(Record) / 8;
  std::uint64_t words[kOwnWords + kEndWordsMax];
  const ReadOutcome outcome = read_at<MappedMemory>(
      words_of(place_, table_, row), commit, std::span(words).first(own_words_ + end_words_));
  if (outcome != ReadOutcome::kOk) return outcome;
  const std::size_t end_at = rows_.size() * end_words_;
  // Zero beyond what the segment has: an engine of an older minor version knows fewer members.
  Record& out = rows_.emplace_back();
  std::memset(static_cast<void*>(&out), 0, sizeof(out));
  std::memcpy(static_cast<void*>(&out), words, own_words_ * 8);
  if (!is_present(out)) {
    rows_.pop_back();
    return outcome;
  }
  out.identity.row = row;  // readers may index by it
  std::copy_n(words + own_words_, end_words_, ends_.begin() + static_cast<std::ptrdiff_t>(end_at));
  return outcome;
}

template <class Record>
bool TableCopy<Record>::run(std::uint64_t commit, std::uint32_t& busy_rows) noexcept {
  rows_.clear();
  return walk(rows_ever_used(place_, table_), commit, busy_rows,
              [&](std::uint32_t row) { return copy_row(row, commit); });
}

template <class Record>
void TableCopy<Record>::deliver_ends(std::vector<RawRows>& out) const {
  if (end_words_ == 0) return;
  const auto end = ends_.begin() + static_cast<std::ptrdiff_t>(rows_.size() * end_words_);
  out.push_back({TableOf<Record>::kSection, end_words_, {ends_.begin(), end}});
}

UnknownTableCopy::UnknownTableCopy(SectionId section, const SectionPlace& place,
                                   const std::byte* segment)
    : section_(section),
      place_(place),
      table_(segment + place.offset_bytes),
      words_per_row_(place.record_bytes / 8),
      words_(place.count * words_per_row_) {}

bool UnknownTableCopy::run(std::uint64_t commit, std::uint32_t& busy_rows) noexcept {
  used_ = 0;
  const auto copy_row = [&](std::uint32_t row) {
    const auto out = std::span(words_).subspan(used_ * words_per_row_, words_per_row_);
    const ReadOutcome outcome = read_at<MappedMemory>(words_of(place_, table_, row), commit, out);
    // Behind its identity an item has something that is not zero, as in the tables we know.
    const auto item = out.subspan(sizeof(Identity) / 8);
    const bool has_item = std::ranges::any_of(item, [](std::uint64_t word) { return word != 0; });
    if (outcome == ReadOutcome::kOk && has_item) ++used_;
    return outcome;
  };
  return walk(rows_ever_used(place_, table_), commit, busy_rows, copy_row);
}

void UnknownTableCopy::deliver(std::vector<RawRows>& out) const {
  const auto end = words_.begin() + static_cast<std::ptrdiff_t>(used_ * words_per_row_);
  out.push_back({section_, words_per_row_, {words_.begin(), end}});
}

SnapshotCopy::SnapshotCopy(const SegmentLayout& layout, const std::byte* segment,
                           const SegmentSchema* schema)
    : hot_lines_(segment + layout.hot_lines_offset),
      events_(layout.place(SectionId::kEvents), segment),
      history_(layout.place(SectionId::kHistory), segment) {
  for_each_table([&]<class Record>() {
    std::get<TableCopy<Record>>(tables_) = table_copy_of<Record>(layout, segment, schema);
  });
  if (schema != nullptr) {
    for (const SegmentSchema::Table& table : schema->unknown_tables()) {
      unknown_tables_.emplace_back(table.id, layout.place(table.id), segment);
    }
  }
  const SectionPlace& words = layout.place(SectionId::kLastWords);
  if (words.record_bytes >= sizeof(LastWords)) last_words_ = segment + words.offset_bytes;
}

bool SnapshotCopy::copy_tables(std::uint64_t commit) noexcept {
  bool is_whole = true;
  busy_rows_ = 0;
  for_each_table([&]<class Record>() {
    is_whole = is_whole && std::get<TableCopy<Record>>(tables_).run(commit, busy_rows_);
  });
  for (UnknownTableCopy& table : unknown_tables_) {
    is_whole = is_whole && table.run(commit, busy_rows_);
  }
  return is_whole;
}

void SnapshotCopy::run() noexcept {
  consistent_ = damaged_ = false;
  const std::uint64_t first_commit = load_commit();
  for (tries_ = 1; tries_ <= kTriesMax && !consistent_; ++tries_) {
    commit_ = load_commit();
    const std::optional<std::uint64_t> newest_event = events_.newest_at(commit_);
    last_event_sequence_ = newest_event.value_or(last_event_sequence_);
    consistent_ = newest_event && copy_tables(commit_);
  }
  --tries_;
  if (!consistent_) {
    commit_ = load_commit();
    // Within one commit a row is published once at most, which laps nobody.
    damaged_ = commit_ == first_commit;
    copy_tables(kAnyCommit);
  }
  copy_hot_lines();
  copy_last_words();
}

std::uint64_t SnapshotCopy::load_hot(std::size_t offset_bytes) const noexcept {
  return MappedMemory::load(*reinterpret_cast<const std::uint64_t*>(hot_lines_ + offset_bytes),
                            std::memory_order_acquire);
}

std::uint64_t SnapshotCopy::load_commit() const noexcept {
  const std::byte* commit = hot_lines_ + offsetof(HotLines, commit.commit);
  return shm::load_commit<MappedMemory>(*reinterpret_cast<const std::uint64_t*>(commit));
}

void SnapshotCopy::copy_hot_lines() noexcept {
  hot_.life.life = load_hot(offsetof(HotLines, life.life));
  hot_.life.last_signal = load_hot(offsetof(HotLines, life.last_signal));
  // Count before its time: the time is then that of this beat or a later one.
  hot_.heartbeat.count = load_hot(offsetof(HotLines, heartbeat.count));
  hot_.heartbeat.monotonic_ns = load_hot(offsetof(HotLines, heartbeat.monotonic_ns));
  hot_.heartbeat.interval_ns = load_hot(offsetof(HotLines, heartbeat.interval_ns));
  hot_.time_anchor.unix_minus_monotonic_ns =
      load_hot(offsetof(HotLines, time_anchor.unix_minus_monotonic_ns));
}

void SnapshotCopy::copy_last_words() noexcept {
  words_ = {};
  if (last_words_ == nullptr) return;
  std::uint64_t words[sizeof(LastWords) / 8];
  const auto* from = reinterpret_cast<const std::uint64_t*>(last_words_);
  // Pairs with the handler's store(release) of `written`, which is its last.
  words[0] = MappedMemory::load(from[0], std::memory_order_acquire);
  if (words[0] == 0) return;
  for (std::size_t i = 1; i < std::size(words); ++i) {
    words[i] = MappedMemory::load(from[i], MappedMemory::kWordLoad);
  }
  std::memcpy(static_cast<void*>(&words_), words, sizeof(words_));
}

void SnapshotCopy::deliver(Snapshot& snapshot) const {
  snapshot.consistent = consistent_;
  snapshot.damaged = damaged_;
  snapshot.commit = commit_;
  snapshot.tries = tries_;
  snapshot.busy_rows = busy_rows_;
  snapshot.last_event_sequence = last_event_sequence_;
  snapshot.life = static_cast<EngineLife>(hot_.life.life & 0xFFFFFFFF);
  snapshot.exit_code = static_cast<std::uint32_t>(hot_.life.life >> 32);
  snapshot.last_signal = static_cast<std::uint32_t>(hot_.life.last_signal);
  snapshot.heartbeat = hot_.heartbeat.count;
  snapshot.heartbeat_interval_ns = hot_.heartbeat.interval_ns;
  snapshot.heartbeat_monotonic_ns = hot_.heartbeat.monotonic_ns;
  snapshot.unix_minus_monotonic_ns =
      static_cast<std::int64_t>(hot_.time_anchor.unix_minus_monotonic_ns);
  snapshot.last_words = words_;
  snapshot.row_ends.clear();
  snapshot.unknown_tables.clear();
  for_each_table([&]<class Record>() {
    const auto& table = std::get<TableCopy<Record>>(tables_);
    snapshot.rows<Record>().assign(table.present().begin(), table.present().end());
    table.deliver_ends(snapshot.row_ends);
  });
  for (const UnknownTableCopy& table : unknown_tables_) table.deliver(snapshot.unknown_tables);
}

}  // namespace vitrine::shm
