// SPDX-License-Identifier: Apache-2.0
#include "shm/snapshot_copy.h"

#include <algorithm>
#include <cstring>

#include "shm/catalogue.h"

namespace vitrine::shm {
namespace {

// How often a row that is lapped while it is copied is tried again for its newest version.
constexpr int kNewestTries = 16;

}  // namespace

template <class Record>
ReadOutcome TableCopy<Record>::copy_row(std::uint32_t row, std::uint64_t commit,
                                        Record& out) const noexcept {
  // Zero beyond what the segment has: an engine of an older minor version knows fewer members.
  std::uint64_t words[sizeof(Record) / 8] = {};
  const std::size_t count = std::min<std::size_t>(place_.record_bytes, sizeof(Record)) / 8;
  const std::byte* line = table_ + std::size_t{row} * place_.stride_bytes;
  const RecordWords<const std::uint64_t> record{
      reinterpret_cast<const std::uint64_t*>(line),
      reinterpret_cast<const std::uint64_t*>(line + kLineBytes),
      slot_bytes(place_.record_bytes) / 8};
  const ReadOutcome outcome = read_at<MappedMemory>(record, commit, std::span(words).first(count));
  if (outcome == ReadOutcome::kOk) std::memcpy(&out, words, sizeof(out));
  return outcome;
}

template <class Record>
std::uint32_t TableCopy<Record>::rows_ever_used() const noexcept {
  if (place_.count == 0) return 0;
  const auto& told = reinterpret_cast<const std::uint64_t*>(table_)[1];
  const std::uint64_t used = load_rows_used<MappedMemory>(told);
  return used == 0 || used > place_.count ? place_.count : static_cast<std::uint32_t>(used);
}

template <class Record>
bool TableCopy<Record>::run(std::uint64_t commit, std::uint32_t& busy_rows) noexcept {
  used_ = 0;
  const std::uint32_t end = rows_ever_used();
  for (std::uint32_t row = 0; row < end; ++row) {
    Record& out = rows_[used_];
    ReadOutcome outcome = copy_row(row, commit, out);
    if (outcome == ReadOutcome::kBusy && commit != kAnyCommit) return false;
    for (int i = 0; outcome == ReadOutcome::kBusy && i < kNewestTries; ++i) {
      outcome = copy_row(row, commit, out);
    }
    if (outcome == ReadOutcome::kBusy) ++busy_rows;
    if (outcome != ReadOutcome::kOk || !is_present(out)) continue;
    out.identity.row = row;  // readers may index by it
    ++used_;
  }
  return true;
}

SnapshotCopy::SnapshotCopy(const SegmentLayout& layout, const std::byte* segment)
    : hot_lines_(segment + layout.hot_lines_offset),
      events_(layout.place(SectionId::kEvents), segment) {
  for_each_table([&]<class Record>() {
    std::get<TableCopy<Record>>(tables_) =
        TableCopy<Record>(layout.place(TableOf<Record>::kSection), segment);
  });
}

bool SnapshotCopy::copy_tables(std::uint64_t commit) noexcept {
  bool is_whole = true;
  busy_rows_ = 0;
  for_each_table([&]<class Record>() {
    is_whole = is_whole && std::get<TableCopy<Record>>(tables_).run(commit, busy_rows_);
  });
  return is_whole;
}

void SnapshotCopy::run() noexcept {
  consistent_ = false;
  for (tries_ = 1; tries_ <= kTriesMax && !consistent_; ++tries_) {
    commit_ = load_commit();
    const std::optional<std::uint64_t> newest_event = events_.newest_at(commit_);
    last_event_sequence_ = newest_event.value_or(last_event_sequence_);
    consistent_ = newest_event && copy_tables(commit_);
  }
  --tries_;
  if (!consistent_) {
    commit_ = load_commit();
    copy_tables(kAnyCommit);
  }
  copy_hot_lines();
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

void SnapshotCopy::deliver(Snapshot& snapshot) const {
  snapshot.consistent = consistent_;
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
  for_each_table([&]<class Record>() {
    const auto present = std::get<TableCopy<Record>>(tables_).present();
    snapshot.rows<Record>().assign(present.begin(), present.end());
  });
}

}  // namespace vitrine::shm
