// SPDX-License-Identifier: Apache-2.0
#include "shm/segment_reader.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <boost/interprocess/mapped_region.hpp>
#include <cerrno>
#include <cstring>
#include <optional>
#include <tuple>

#include "shm/bus_error_guard.h"
#include "shm/catalogue.h"
#include "shm/clock.h"
#include "shm/recording_format.h"
#include "shm/schema_text.h"
#include "shm/segment_layout_check.h"
#include "shm/snapshot_copy.h"

namespace vitrine::shm {
namespace {

namespace bip = boost::interprocess;

// Above this a segment is not the default's kind, and its pages are mapped as they are touched.
constexpr std::size_t kPopulateBytesMax = std::size_t{64} << 20;

std::string text_of(std::span<const char> padded) {
  return std::string(padded.data(), strnlen(padded.data(), padded.size()));
}

SegmentIdentity identity_of(const SegmentLayout& layout, const std::filesystem::path& path) {
  const Header& header = layout.header;
  SegmentIdentity identity;
  identity.path = path;
  identity.instance = text_of(header.instance);
  identity.host = text_of(header.host);
  identity.engine_version = text_of(header.engine_version);
  identity.api_socket_path = text_of(header.api_socket_path);
  identity.incarnation = incarnation_text(header.incarnation);
  identity.pid = header.pid;
  identity.pid_namespace_inode = header.pid_namespace_inode;
  identity.process_start_ticks = header.process_start_ticks;
  identity.uid = header.uid;
  identity.boot_id = header.boot_id;
  identity.created_unix_ns = header.created_unix_ns;
  identity.major = header.fixed.major;
  identity.minor = header.fixed.minor;
  identity.required_features = header.fixed.required_features;
  identity.optional_features = header.fixed.optional_features;
  identity.schema_hash = header.schema_hash;
  identity.total_bytes = header.fixed.total_bytes;
  identity.event_capacity = layout.place(SectionId::kEvents).count;
  for_each_table([&]<class Record>() {
    identity.tables.push_back(
        {TableOf<Record>::kName, layout.place(TableOf<Record>::kSection).count});
  });
  return identity;
}

// Reads the first `size` bytes of the file, or as many as there are.
Result<std::size_t> read_from_start(const OpenedFile& opened, std::span<std::byte> out,
                                    const std::filesystem::path& path) {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t count = ::pread(opened.file.number(), out.data() + done, out.size() - done,
                                  static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      return Error{ErrorKind::kUnreadable,
                   path.string() + ": cannot be read: " + std::strerror(errno)};
    }
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

Result<SegmentLayout> read_layout(const OpenedFile& opened, const std::filesystem::path& path) {
  std::array<std::byte, kCheckedHeaderBytes> header{};
  const auto count = read_from_start(opened, header, path);
  if (!count) return count.error();
  return check_layout(std::span(header).first(*count), opened.size_bytes, path.string());
}

bool is_recording(const OpenedFile& opened) {
  std::array<char, 8> magic{};
  return ::pread(opened.file.number(), magic.data(), magic.size(), 0) == ssize_t{magic.size()} &&
         magic == kRecordingMagic;
}

}  // namespace

struct SegmentReader::State {
  OpenedFile opened;
  SegmentLayout layout;
  SegmentIdentity identity;
  std::array<std::uint8_t, 16> boot_id = vitrine::shm::boot_id();
  bip::mapped_region mapping;             // of a live segment
  std::vector<std::uint64_t> copy_words;  // of a dead segment
  std::optional<RecordingReader> recording;
  bool is_file = false;
  std::span<const std::byte> bytes;  // one of the three
  SnapshotCopy copy;
  // Room for a batch, so that nothing is allocated under the guard.
  std::vector<Event> events;
  std::vector<HistorySample> samples;

  // Settles what follows from the checked layout of `bytes`.
  Result<void> settle(const SegmentLayout& checked, const std::filesystem::path& path);
  Result<void> read_schema();
  Error lost() const {
    return {ErrorKind::kCorrupt,
            identity.path.string() + ": the file was cut short while it was being read"};
  }
};

Result<void> SegmentReader::State::settle(const SegmentLayout& checked,
                                          const std::filesystem::path& path) {
  layout = checked;
  identity = identity_of(layout, path);
  if (Result<void> read = read_schema(); !read) return read;
  copy = SnapshotCopy(layout, bytes.data(), identity.schema.get());
  return {};
}

Result<void> SegmentReader::State::read_schema() {
  const SectionPlace& place = layout.place(SectionId::kSchema);
  if (place.record_bytes > kSchemaBytesMax) return {};
  std::string& text = identity.schema_text;
  text.resize(place.record_bytes);
  const auto from = bytes.subspan(place.offset_bytes, place.record_bytes);
  if (!guarded(bytes, [&] { std::memcpy(text.data(), from.data(), from.size()); })) return lost();
  // A text that was damaged tells nothing; what the catalogue knows can be shown without it.
  if (!SegmentSchema::has_news(layout) || schema_hash(text) != identity.schema_hash) return {};
  identity.schema = SegmentSchema::parse(text, layout);
  return {};
}

SegmentReader::SegmentReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
SegmentReader::SegmentReader(SegmentReader&&) noexcept = default;
SegmentReader& SegmentReader::operator=(SegmentReader&&) noexcept = default;
SegmentReader::~SegmentReader() = default;

Result<SegmentReader> SegmentReader::attach(const std::filesystem::path& path,
                                            const AttachOptions& options) {
  auto opened = open_segment(path, options);
  if (!opened) return opened.error();
  auto layout = read_layout(*opened, path);
  if (!layout) return layout.error();
  auto state = std::make_unique<State>();
  const std::size_t size_bytes = layout->header.fixed.total_bytes;
  try {
    const bool is_ahead = options.paging == Paging::kAhead && size_bytes <= kPopulateBytesMax;
    const bip::map_options_t populate = is_ahead ? MAP_POPULATE : 0;
    state->mapping =
        bip::mapped_region(opened->file, bip::read_only, 0, size_bytes, nullptr, populate);
  } catch (const bip::interprocess_exception& error) {
    return Error{ErrorKind::kSystem, path.string() + ": cannot be mapped: " + error.what()};
  }
  state->bytes = {static_cast<const std::byte*>(state->mapping.get_address()), size_bytes};
  if (Result<void> settled = state->settle(*layout, path); !settled) return settled.error();
  state->opened = std::move(*opened);
  return SegmentReader(std::move(state));
}

Result<SegmentReader> SegmentReader::open_file(const std::filesystem::path& path) {
  auto opened = open_recording(path);
  if (!opened) return opened.error();
  if (is_recording(*opened)) {
    auto recording = RecordingReader::open(path);
    if (!recording) return recording.error();
    auto reader = of_recording(std::move(*recording));
    while (reader && reader->next_frame()) {
    }
    return reader;
  }
  auto layout = read_layout(*opened, path);
  if (!layout) return layout.error();
  const std::size_t size_bytes = layout->header.fixed.total_bytes;
  std::vector<std::uint64_t> words((size_bytes + 7) / 8);
  const auto bytes = std::as_writable_bytes(std::span(words)).first(size_bytes);
  const auto count = read_from_start(*opened, bytes, path);
  if (!count) return count.error();
  if (is_write_locked(opened->file)) {
    return Error{ErrorKind::kInUse,
                 path.string() + ": its engine lives; look at the instance, not at its file"};
  }
  return open_copy(std::move(words), *count, path);
}

Result<SegmentReader> SegmentReader::open_bytes(std::span<const std::byte> file,
                                                const std::filesystem::path& path) {
  // Checked before room is made for what the header says.
  const auto layout = check_layout(file, file.size(), path.string());
  if (!layout) return layout.error();
  const std::size_t size_bytes = layout->header.fixed.total_bytes;
  std::vector<std::uint64_t> words((size_bytes + 7) / 8);
  std::memcpy(words.data(), file.data(), size_bytes);
  return open_copy(std::move(words), size_bytes, path);
}

Result<SegmentReader> SegmentReader::open_copy(std::vector<std::uint64_t> words, std::size_t count,
                                               const std::filesystem::path& path) {
  // The bytes of a file may have changed since its header was checked.
  const auto copied = std::as_bytes(std::span(words));
  const auto layout = check_layout(copied, count, path.string());
  if (!layout) return layout.error();
  auto state = std::make_unique<State>();
  state->copy_words = std::move(words);
  state->is_file = true;
  state->bytes = std::as_bytes(std::span(state->copy_words));
  if (Result<void> settled = state->settle(*layout, path); !settled) return settled.error();
  return SegmentReader(std::move(state));
}

Result<SegmentReader> SegmentReader::of_recording(RecordingReader recording) {
  if (!recording.next()) {
    return Error{ErrorKind::kCorrupt,
                 recording.name() + ": a recording without a whole frame: " + recording.note()};
  }
  auto state = std::make_unique<State>();
  const std::size_t size_bytes = recording.image().size();
  auto layout = check_layout(recording.image(), size_bytes, recording.name());
  if (!layout) return layout.error();
  state->is_file = true;
  state->bytes = recording.image();
  if (Result<void> settled = state->settle(*layout, recording.name()); !settled) {
    return settled.error();
  }
  state->recording = std::move(recording);
  return SegmentReader(std::move(state));
}

const SegmentIdentity& SegmentReader::identity() const { return state_->identity; }

Result<void> SegmentReader::snapshot(Snapshot& snapshot) {
  const std::uint64_t taken_ns = monotonic_ns();
  const std::int64_t taken_unix_ns = unix_ns();
  SnapshotCopy& copy = state_->copy;
  if (!guarded(state_->bytes, [&copy] { copy.run(); })) return state_->lost();
  copy.deliver(snapshot);
  snapshot.incarnation = state_->identity.incarnation;
  snapshot.taken_monotonic_ns = taken_ns;
  snapshot.heartbeat_age_ns = 0;
  const std::uint64_t beat_ns = snapshot.heartbeat_monotonic_ns;
  const std::int64_t beat_unix_ns = snapshot.unix_ns_of(Instant{beat_ns});
  if (state_->recording) {
    const std::uint64_t then_ns = state_->recording->moment().taken_engine_ns;
    snapshot.heartbeat_age_ns = then_ns > beat_ns ? then_ns - beat_ns : 0;
  } else if (state_->boot_id == state_->identity.boot_id && beat_ns <= taken_ns) {
    snapshot.heartbeat_age_ns = taken_ns - beat_ns;
  } else if (beat_unix_ns > 0 && beat_unix_ns < taken_unix_ns) {
    // Another boot, machine or time namespace: the wall clocks are the only ones that compare.
    snapshot.heartbeat_age_ns = static_cast<std::uint64_t>(taken_unix_ns - beat_unix_ns);
  }
  return {};
}

std::uint64_t SegmentReader::commit() const {
  std::uint64_t commit = 0;
  const SnapshotCopy& copy = state_->copy;
  return guarded(state_->bytes, [&] { commit = copy.load_commit(); }) ? commit : 0;
}

Result<EventBatch> SegmentReader::events_after(std::uint64_t sequence, std::size_t limit) {
  EventBatch batch;
  batch.last_sequence = sequence;
  const EventRing& ring = state_->copy.events();
  if (ring.count() == 0 || limit == 0) return batch;
  auto& room = state_->events;
  const std::size_t portion = std::min<std::size_t>(limit, ring.count());
  room.resize(std::max(room.size(), portion));
  // Goes on while all that was read is lost; a ring holds no more than its count.
  std::uint64_t lost = 0;
  do {
    RingRange range;
    const auto copy_events = [&] {
      range = ring.copy_after(batch.last_sequence, state_->copy.load_commit(),
                              std::span(room).first(portion));
    };
    if (!guarded(state_->bytes, copy_events)) return state_->lost();
    if (range.is_damaged) {
      return Error{ErrorKind::kCorrupt, state_->identity.path.string() +
                                            ": the event ring holds events out of their order"};
    }
    const auto good = std::span(room).subspan(range.skipped, range.count);
    const auto first = std::ranges::find_if_not(good, is_lost_entry<Event>);
    const auto last = std::find_if(first, good.end(), is_lost_entry<Event>);
    batch.events.assign(first, last);
    const auto passed_over = range.missed + static_cast<std::uint64_t>(first - good.begin());
    batch.missed += passed_over;
    batch.last_sequence += passed_over + batch.events.size();
    batch.has_more = last != good.end() || good.size() == portion;
    if (good.empty()) break;
    lost += good.size();
  } while (batch.events.empty() && lost < ring.count());
  return batch;
}

Result<std::vector<HistorySample>> SegmentReader::history() {
  const HistoryRing& ring = state_->copy.history();
  auto& room = state_->samples;
  room.resize(ring.count());
  if (room.empty()) return std::vector<HistorySample>{};
  RingRange range;
  const auto copy_samples = [&] { range = ring.copy_after(0, state_->copy.load_commit(), room); };
  if (!guarded(state_->bytes, copy_samples)) return state_->lost();
  if (range.is_damaged) {
    return Error{ErrorKind::kCorrupt, state_->identity.path.string() +
                                          ": the history ring holds samples out of their order"};
  }
  const auto first = room.begin() + static_cast<std::ptrdiff_t>(range.skipped);
  std::vector<HistorySample> samples(first, first + static_cast<std::ptrdiff_t>(range.count));
  std::erase_if(samples, is_lost_entry<HistorySample>);
  return samples;
}

Liveness SegmentReader::liveness() const {
  Liveness liveness;
  if (state_->is_file) {
    liveness.is_file = true;
    if (state_->recording) {
      liveness.lock_held = state_->recording->moment().lock_held;
      liveness.name_linked = state_->recording->moment().name_linked;
    }
    return liveness;
  }
  return probe_liveness(state_->opened, state_->identity.path);
}

const RecordingReader* SegmentReader::recording() const {
  return state_->recording ? &*state_->recording : nullptr;
}

bool SegmentReader::next_frame() { return state_->recording && state_->recording->next(); }

std::span<const std::byte> SegmentReader::bytes() const { return state_->bytes; }

}  // namespace vitrine::shm
