// SPDX-License-Identifier: Apache-2.0
#include "shm/segment_writer.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <boost/interprocess/anonymous_shared_memory.hpp>
#include <boost/interprocess/mapped_region.hpp>
#include <cassert>
#include <optional>

#include "shm/clock.h"
#include "shm/file_descriptor.h"
#include "shm/instance_lock_writer.h"
#include "shm/paths.h"
#include "shm/protocol.h"
#include "shm/publication_writer.h"

namespace vitrine::shm {

namespace bip = boost::interprocess;

// Order of members is order of life: the mapping goes before the file that carries the lock, and
// the instance is given up last.
struct SegmentWriter::State {
  SegmentOptions options;
  SegmentPlan plan;
  Incarnation incarnation;
  std::optional<InstanceLock> instance_lock;
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
  void open_sections();
};

void SegmentWriter::State::open_sections() {
  auto* base = static_cast<std::byte*>(mapping.get_address());
  write_header(base, plan, options, incarnation);
  hot = reinterpret_cast<HotLines*>(base + kHotLinesOffset);
  hot->heartbeat.interval_ns = options.heartbeat_interval_ns;
  ring_head = reinterpret_cast<std::uint64_t*>(at(SectionId::kEvents));
  ring = ring_head + kLineBytes / 8;
  for_each_table([this]<class Record>() {
    constexpr SectionId kSection = TableOf<Record>::kSection;
    std::get<TableWriter<Record>>(tables) =
        TableWriter<Record>(at(kSection), plan.count_of(kSection));
  });
}

namespace {

// A forked child must neither publish nor keep a dead engine's pages alive.
void keep_from_children(bip::mapped_region& mapping) {
  ::madvise(mapping.get_address(), mapping.get_size(), MADV_DONTFORK);
}

Error mapping_error(const std::filesystem::path& path, const bip::interprocess_exception& error) {
  return Error{ErrorKind::kSystem, path.string() + ": cannot map the segment: " + error.what()};
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
  Result<InstanceLock> lock = InstanceLock::take(options.path);
  if (!lock) return lock.error();
  state->instance_lock = std::move(*lock);
  if (Result<void> retired = retire_predecessor(options.path); !retired) return retired.error();
  Result<FileDescriptor> file = create_unnamed(options.path, state->plan.total_bytes);
  if (!file) return file.error();
  state->file = std::move(*file);
  try {
    state->mapping = bip::mapped_region(state->file, bip::read_write, 0, state->plan.total_bytes,
                                        nullptr, MAP_POPULATE);
  } catch (const bip::interprocess_exception& error) {
    return mapping_error(options.path, error);
  }
  keep_from_children(state->mapping);
  state->open_sections();
  SegmentWriter writer(std::move(state));
  writer.set_life(EngineLife::kStarting, 0);
  writer.beat();
  const Access access{options.mode, options.group};
  if (auto linked = link_to_name(writer.state_->file, options.path, access); !linked) {
    return linked.error();
  }
  return writer;
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

bool SegmentWriter::is_name_lost() const {
  if (!is_shared()) return false;
  struct stat named {};
  struct stat own {};
  if (::fstat(state_->file.number(), &own) != 0) return true;
  return ::lstat(path().c_str(), &named) != 0 || named.st_ino != own.st_ino ||
         named.st_dev != own.st_dev;
}

void SegmentWriter::unlink_name() {
  std::error_code ignored;
  if (!is_shared() || is_name_lost()) return;
  std::filesystem::remove(path(), ignored);
  std::filesystem::remove(lock_path_of(path()), ignored);  // held, so it is nobody else's
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
    // W3: pairs with the snapshot's load(acquire) of commit.
    MappedMemory::store(state_.hot->commit.commit, state_.open_stamp, std::memory_order_release);
  }
  state_.open_stamp = 0;
}

}  // namespace vitrine::shm
