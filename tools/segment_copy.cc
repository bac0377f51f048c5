// SPDX-License-Identifier: Apache-2.0
#include "tools/segment_copy.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "shm/segment_layout_check.h"
#include "tools/bounded_file.h"

namespace vitrine::tools {
namespace {

// The checked layout of a copy, and the words in it.
class CopiedSegment {
 public:
  CopiedSegment(std::string& bytes, const shm::SegmentLayout& layout)
      : bytes_(bytes), layout_(layout) {}

  void put_commit(std::uint64_t commit) {
    put(layout_.hot_lines_offset + offsetof(shm::HotLines, commit), commit);
  }

  // Every row of the table: the one version that the snapshot has, or none.
  template <class Record>
  void put_table(const shm::Snapshot& snapshot) {
    constexpr shm::SectionId kSection = shm::TableOf<Record>::kSection;
    clear_table(kSection);
    const auto& rows = snapshot.rows<Record>();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      put_row(kSection, rows[i].identity.row, std::as_bytes(std::span(&rows[i], 1)),
              snapshot.extra_of<Record>(i));
    }
  }

  // A table that only the segment's own schema knows.
  void put_table(const shm::RawRows& rows) {
    clear_table(rows.section);
    for (std::size_t i = 0; i < rows.count(); ++i) {
      shm::Identity identity;
      if (rows.row(i).size() < sizeof(identity)) return;
      std::memcpy(&identity, rows.row(i).data(), sizeof(identity));
      put_row(rows.section, identity.row, rows.row(i), {});
    }
  }

  // The ring with these entries alone, which end with sequence `head`. A reader expects as many as
  // the ring holds, so it is made as short as they are.
  template <class Entry>
  void put_ring(shm::SectionId id, const std::vector<Entry>& entries, std::uint64_t head) {
    shm::SectionPlace place = layout_.place(id);
    if (place.count == 0) return;
    std::memset(bytes_.data() + place.offset_bytes + kLine, 0, place.count * place.stride_bytes);
    if (entries.size() < std::min<std::uint64_t>(head, place.count - 1)) {
      place.count = static_cast<std::uint32_t>(entries.size() + 1);
      put_count(id, place.count);
    }
    const std::size_t entry_bytes = std::min<std::size_t>(place.record_bytes, sizeof(Entry));
    for (const Entry& entry : entries) {
      const std::size_t slot = (entry.sequence - 1) % place.count;
      std::memcpy(bytes_.data() + place.offset_bytes + kLine + slot * place.stride_bytes, &entry,
                  entry_bytes);
    }
    put(place.offset_bytes, head);
  }

 private:
  static constexpr std::size_t kLine = shm::kLineBytes;

  void clear_table(shm::SectionId id) {
    const shm::SectionPlace& place = layout_.place(id);
    const std::size_t slots_bytes = place.stride_bytes - std::min(place.stride_bytes, kLine);
    for (std::uint32_t row = 0; row < place.count; ++row) {
      const std::size_t line = place.offset_bytes + row * place.stride_bytes;
      put(line, std::uint64_t{0});
      std::memset(bytes_.data() + line + kLine, 0, slots_bytes);
    }
  }

  // The first version of an empty row: the members that we know, and those behind them.
  void put_row(shm::SectionId id, std::uint32_t row, std::span<const std::byte> record,
               std::span<const std::byte> extra) {
    const shm::SectionPlace& place = layout_.place(id);
    if (row >= place.count) return;
    const std::size_t line = place.offset_bytes + row * place.stride_bytes;
    char* const slot = bytes_.data() + line + kLine + shm::slot_bytes(place.record_bytes);
    const std::size_t known_bytes = std::min<std::size_t>(place.record_bytes, record.size());
    std::memcpy(slot, record.data(), known_bytes);
    const std::size_t extra_bytes = std::min(place.record_bytes - known_bytes, extra.size());
    if (extra_bytes > 0) std::memcpy(slot + known_bytes, extra.data(), extra_bytes);
    put(line, std::uint64_t{1});
  }

  void put_count(shm::SectionId id, std::uint32_t count) {
    for (std::uint32_t i = 0; i < layout_.header.section_count; ++i) {
      const std::size_t place = shm::kSectionTableOffset + i * sizeof(shm::SectionEntry);
      shm::SectionEntry entry;
      std::memcpy(&entry, bytes_.data() + place, sizeof(entry));
      if (entry.id != static_cast<std::uint32_t>(id)) continue;
      entry.count = count;
      std::memcpy(bytes_.data() + place, &entry, sizeof(entry));
    }
  }

  void put(std::size_t offset, std::uint64_t word) {
    std::memcpy(bytes_.data() + offset, &word, sizeof(word));
  }

  std::string& bytes_;
  const shm::SegmentLayout& layout_;
};

Error changed(const shm::SegmentReader& reader, const std::string& what) {
  return {ExitCode::kUnreadable, reader.identity().path.string() + ": " + what};
}

// One moment: the state, and the events up to it.
struct Moment {
  shm::Snapshot snapshot;
  std::vector<shm::Event> events;  // without a gap
  std::uint64_t last_sequence = 0;
  std::vector<shm::HistorySample> history;
};

Result<void> take_snapshot(shm::SegmentReader& reader, shm::Snapshot& snapshot) {
  constexpr int kTries = 16;
  for (int i = 0; i < kTries; ++i) {
    if (const auto taken = reader.snapshot(snapshot); !taken) {
      return Error{ExitCode::kUnreadable, taken.error().text};
    }
    if (snapshot.consistent) return {};
  }
  return changed(reader, snapshot.damaged ? "is damaged: its rows do not fit its commit"
                                          : "changes faster than it can be copied");
}

// The newest events after `sequence`, without a gap; `missed` of those before them.
shm::Result<shm::EventBatch> read_events(shm::SegmentReader& reader, std::uint64_t sequence) {
  constexpr int kReads = 64;  // a gap ends a read; the engine may go on meanwhile
  shm::EventBatch all;
  all.last_sequence = sequence;
  for (int i = 0; i < kReads; ++i) {
    auto batch = reader.events_after(all.last_sequence, reader.identity().event_capacity);
    if (!batch) return batch.error();
    if (batch->missed > 0) all.events.clear();
    all.missed += batch->missed;
    all.last_sequence = batch->last_sequence;
    if (batch->events.empty()) break;
    all.events.insert(all.events.end(), batch->events.begin(), batch->events.end());
  }
  return all;
}

// The ring first, since it is longest to copy; what came since then after the state.
Result<Moment> take_moment(shm::SegmentReader& reader) {
  const std::size_t capacity = reader.identity().event_capacity;
  Moment moment;
  auto before = read_events(reader, 0);
  if (!before) return Error{ExitCode::kUnreadable, before.error().text};
  if (const auto taken = take_snapshot(reader, moment.snapshot); !taken) return taken.error();
  auto since = read_events(reader, before->last_sequence);
  if (!since) return Error{ExitCode::kUnreadable, since.error().text};
  std::vector<shm::Event>& events = moment.events;
  if (since->missed == 0) events = std::move(before->events);
  for (const shm::Event& event : since->events) {
    if (event.stamp <= moment.snapshot.commit) events.push_back(event);
  }
  moment.last_sequence =
      events.empty() ? moment.snapshot.last_event_sequence : events.back().sequence;
  const std::size_t kept = std::min(events.size(), capacity - std::min<std::size_t>(capacity, 1));
  events.erase(events.begin(), events.end() - static_cast<std::ptrdiff_t>(kept));
  if (auto history = reader.history()) moment.history = std::move(*history);
  std::erase_if(moment.history, [&](const shm::HistorySample& sample) {
    return sample.stamp > moment.snapshot.commit;
  });
  return moment;
}

void freeze(const Moment& moment, const shm::SegmentLayout& layout, std::string& bytes) {
  CopiedSegment copy(bytes, layout);
  copy.put_commit(moment.snapshot.commit);
  shm::for_each_table([&]<class Record>() { copy.put_table<Record>(moment.snapshot); });
  for (const shm::RawRows& rows : moment.snapshot.unknown_tables) copy.put_table(rows);
  copy.put_ring(shm::SectionId::kEvents, moment.events, moment.last_sequence);
  const auto& history = moment.history;
  const std::uint64_t last_sample = history.empty() ? 0 : history.back().sequence;
  copy.put_ring(shm::SectionId::kHistory, history, last_sample);
}

Result<std::string> copy_recording(const shm::SegmentReader& reader) {
  constexpr std::size_t kBytesMax = std::size_t{1} << 30;
  auto bytes = read_bounded(reader.identity().path, kBytesMax);
  if (!bytes) return changed(reader, "cannot be read again");
  if (bytes->size() == kBytesMax) return changed(reader, "is too large for a report");
  return std::move(*bytes);
}

}  // namespace

Result<std::string> copy_segment(shm::Attachment& attachment) {
  shm::SegmentReader& reader = *attachment.reader();
  if (reader.recording() != nullptr) return copy_recording(reader);
  const bool is_written = reader.liveness().lock_held;
  // Before the bytes: the count of rows that were ever used only grows.
  const Result<Moment> moment = is_written ? take_moment(reader) : Moment{};
  if (!moment) return moment.error();
  const shm::SegmentIdentity& identity = reader.identity();
  auto bytes = read_bounded(identity.path, identity.total_bytes);
  if (!bytes) return changed(reader, "cannot be read again");
  const auto layout =
      shm::check_layout(std::as_bytes(std::span(*bytes)), bytes->size(), identity.path.string());
  if (!layout) return Error{ExitCode::kUnreadable, layout.error().text};
  if (shm::incarnation_text(layout->header.incarnation) != identity.incarnation) {
    return changed(reader, "is another engine's by now");
  }
  if (is_written) freeze(*moment, *layout, *bytes);
  return std::move(*bytes);
}

}  // namespace vitrine::tools
