// SPDX-License-Identifier: Apache-2.0
#include "shm/segment_writer.h"

#include <sys/mman.h>

#include <boost/interprocess/anonymous_shared_memory.hpp>
#include <boost/interprocess/mapped_region.hpp>
#include <cassert>
#include <cstring>
#include <optional>

#include "shm/clock.h"
#include "shm/file_descriptor.h"
#include "shm/owner_lock_writer.h"
#include "shm/paths.h"
#include "shm/protocol.h"
#include "shm/publication_writer.h"

namespace vitrine::shm {

namespace bip = boost::interprocess;

// Order of members is order of life: the mapping goes before the file that carries the lock, and
// the name is given up last.
struct SegmentWriter::State {
  SegmentOptions options;
  SegmentPlan plan;
  Incarnation incarnation;
  std::optional<OwnerLock> owner_lock;
  FileDescriptor file;
  bip::mapped_region mapping;
  HotLines* hot = nullptr;
  std::uint64_t* ring_head = nullptr;
  std::uint64_t* ring = nullptr;
  Transaction::Tables tables;
  std::uint64_t open_stamp = 0;  // of the open transaction; zero when none is open
  bool has_events = false;       // appended in the open transaction

  std::byte* at(SectionId id) {
    return static_cast<std::byte*>(mapping.get_address()) + plan.offset_of(id);
  }
  Result<void> take_lock();
  void open_sections();
  void point_into_mapping();
  Result<void> link() const {
    return link_to_name(file, options.path, {options.mode, options.group});
  }
};

Result<void> SegmentWriter::State::take_lock() {
  Result<OwnerLock> lock =
      OwnerLock::take(lock_path_of(options.path), Owned::kSegment, options.path.string());
  if (!lock) return lock.error();
  owner_lock = std::move(*lock);
  return {};
}

void SegmentWriter::State::open_sections() {
  for_each_table([this]<class Record>() {
    std::get<TableWriter<Record>>(tables) =
        TableWriter<Record>(plan.count_of(TableOf<Record>::kSection));
  });
  point_into_mapping();
  write_header(static_cast<std::byte*>(mapping.get_address()), plan, options, incarnation);
  hot->heartbeat.interval_ns = options.heartbeat_interval_ns;
}

void SegmentWriter::State::point_into_mapping() {
  hot =
      reinterpret_cast<HotLines*>(static_cast<std::byte*>(mapping.get_address()) + kHotLinesOffset);
  ring_head = reinterpret_cast<std::uint64_t*>(at(SectionId::kEvents));
  ring = ring_head + kLineBytes / 8;
  for_each_table([this]<class Record>() {
    std::get<TableWriter<Record>>(tables).move_to(at(TableOf<Record>::kSection));
  });
}

namespace {

// A forked child must neither publish nor keep a dead engine's pages alive.
void keep_from_children(bip::mapped_region& mapping) {
  ::madvise(mapping.get_address(), mapping.get_size(), MADV_DONTFORK);
}

struct UnnamedSegment {
  FileDescriptor file;
  bip::mapped_region mapping;
};

Result<UnnamedSegment> create_mapped(const std::filesystem::path& path, std::size_t size_bytes) {
  Result<FileDescriptor> file = create_unnamed(path, size_bytes);
  if (!file) return file.error();
  try {
    bip::mapped_region mapping(*file, bip::read_write, 0, size_bytes, nullptr, MAP_POPULATE);
    keep_from_children(mapping);
    return UnnamedSegment{std::move(*file), std::move(mapping)};
  } catch (const bip::interprocess_exception& error) {
    return Error{ErrorKind::kSystem, path.string() + ": cannot map the segment: " + error.what()};
  }
}

}  // namespace

SegmentWriter::SegmentWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
SegmentWriter::SegmentWriter(SegmentWriter&&) noexcept = default;
SegmentWriter& SegmentWriter::operator=(SegmentWriter&&) noexcept = default;
SegmentWriter::~SegmentWriter() = default;

Result<SegmentWriter> SegmentWriter::publish_named(const SegmentOptions& options) {
  auto state = std::make_unique<State>();
  state->options = options;
  state->plan = plan_segment(options.capacity);
  state->incarnation = new_incarnation();
  // First a look: nothing is left beside a file that is not to be replaced.
  if (Result<void> fine = check_predecessor(options.path); !fine) return fine.error();
  if (Result<void> taken = state->take_lock(); !taken) return taken.error();
  if (Result<void> retired = retire_predecessor(options.path); !retired) return retired.error();
  Result<UnnamedSegment> segment = create_mapped(options.path, state->plan.total_bytes);
  if (!segment) return segment.error();
  state->file = std::move(segment->file);
  state->mapping = std::move(segment->mapping);
  state->open_sections();
  SegmentWriter writer(std::move(state));
  writer.set_life(EngineLife::kStarting, 0);
  writer.beat();
  if (auto linked = writer.state_->link(); !linked) return linked.error();
  return writer;
}

Result<void> SegmentWriter::publish_again(std::mutex& state_mutex) {
  if (state_->owner_lock->is_name_lost()) {
    if (Result<void> taken = state_->take_lock(); !taken) return taken.error();
  }
  if (Result<void> retired = retire_predecessor(path()); !retired) return retired.error();
  Result<UnnamedSegment> segment = create_mapped(path(), state_->plan.total_bytes);
  if (!segment) return segment.error();
  {
    const std::lock_guard lock(state_mutex);
    std::memcpy(segment->mapping.get_address(), state_->mapping.get_address(),
                state_->plan.total_bytes);
    std::swap(state_->mapping, segment->mapping);
    std::swap(state_->file, segment->file);
    state_->point_into_mapping();
  }
  // The old segment's lock is held until the new one has its name: readers move from live to live.
  return state_->link();
}

SegmentWriter SegmentWriter::in_private_memory(const SegmentOptions& options) {
  auto state = std::make_unique<State>();
  state->options = options;
  state->plan = plan_segment(options.capacity);
  state->incarnation = new_incarnation();
  state->mapping = bip::anonymous_shared_memory(state->plan.total_bytes);
  state->open_sections();
  SegmentWriter writer(std::move(state));
  writer.set_life(EngineLife::kStarting, 0);
  writer.beat();
  return writer;
}

Transaction SegmentWriter::begin() { return Transaction(*state_, state_->tables); }

void SegmentWriter::beat() noexcept {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  const std::uint64_t now_ns = monotonic_ns();
  HotLines& hot = *state_->hot;
  MappedMemory::store(hot.time_anchor.unix_minus_monotonic_ns,
                      static_cast<std::uint64_t>(unix_ns()) - now_ns, kRelaxed);
  MappedMemory::store(hot.heartbeat.monotonic_ns, now_ns, kRelaxed);
  // Pairs with the reader's load(acquire) of count: it then sees this beat's time or a later one.
  MappedMemory::store(hot.heartbeat.count, MappedMemory::load(hot.heartbeat.count, kRelaxed) + 1,
                      std::memory_order_release);
}

void SegmentWriter::set_life(EngineLife life, std::uint32_t exit_code) noexcept {
  const std::uint64_t word = static_cast<std::uint64_t>(life) | std::uint64_t{exit_code} << 32;
  // Pairs with the reader's load(acquire): what was published before a state is seen with it.
  MappedMemory::store(state_->hot->life.life, word, std::memory_order_release);
}

bool SegmentWriter::is_shared() const { return state_->file.is_open(); }
const std::filesystem::path& SegmentWriter::path() const { return state_->options.path; }
std::string SegmentWriter::incarnation() const { return incarnation_text(state_->incarnation); }

bool SegmentWriter::is_name_lost() const { return is_shared() && !leads_to(path(), state_->file); }

void SegmentWriter::unlink_name() {
  std::error_code ignored;
  if (!is_shared() || is_name_lost()) return;
  std::filesystem::remove(path(), ignored);
  state_->owner_lock->remove_file();
}

Transaction::Transaction(SegmentWriter::State& state, Tables& tables)
    : state_(state), tables_(tables) {
  assert(state.open_stamp == 0 && "one transaction at a time");
  constexpr auto kRelaxed = std::memory_order_relaxed;
  state.open_stamp = MappedMemory::load(state.hot->commit.commit, kRelaxed) + 1;
  state.has_events = false;
}

void Transaction::append(Event event) noexcept {
  constexpr std::size_t kEventWords = sizeof(Event) / 8;
  const std::uint64_t published = MappedMemory::load(*state_.ring_head, std::memory_order_relaxed);
  event.stamp = state_.open_stamp;
  event.sequence = published + 1;
  std::uint64_t words[kEventWords];
  std::memcpy(words, &event, sizeof(event));
  const std::uint64_t slot = published % state_.plan.count_of(SectionId::kEvents);
  MappedMemory::fence(std::memory_order_release);  // pairs with the reader's second look at head
  for (std::size_t i = 0; i < kEventWords; ++i) {
    MappedMemory::store(state_.ring[slot * kEventWords + i], words[i], MappedMemory::kWordStore);
  }
  // Pairs with the reader's load(acquire) of head.
  MappedMemory::store(*state_.ring_head, published + 1, std::memory_order_release);
  state_.has_events = true;
}

Transaction::~Transaction() {
  bool has_changes = state_.has_events;
  for_each_table([&]<class Record>() {
    has_changes |= std::get<TableWriter<Record>>(tables_).flush(state_.open_stamp);
  });
  if (has_changes) {
    store_commit<MappedMemory>(state_.hot->commit.commit, state_.open_stamp);
  }
  state_.open_stamp = 0;
}

}  // namespace vitrine::shm
