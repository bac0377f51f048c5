// SPDX-License-Identifier: Apache-2.0
#include "shm/segment_writer.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <atomic>
#include <boost/interprocess/anonymous_shared_memory.hpp>
#include <boost/interprocess/mapped_region.hpp>
#include <cassert>
#include <cstring>
#include <optional>

#include "shm/clock.h"
#include "shm/file_descriptor.h"
#include "shm/lost_page_writer.h"
#include "shm/owner_lock_writer.h"
#include "shm/paths.h"
#include "shm/protocol.h"
#include "shm/publication_writer.h"
#include "shm/ring_protocol.h"
#include "shm/segment_access.h"

namespace vitrine::shm {

namespace bip = boost::interprocess;

namespace {

// Order of members is order of life: the mapping goes before the file that carries the lock.
struct SegmentPages {
  FileDescriptor file;  // not open: memory that nobody else sees
  bip::mapped_region mapping;
  LostPageGuard guard;

  std::byte* bytes() const { return static_cast<std::byte*>(mapping.get_address()); }
};

// Rows that are looked at in one go while the state mutex is held: a few microseconds.
constexpr std::uint32_t kRowsAtOnce = 64;

// A forked child must neither publish nor keep a dead engine's pages alive.
void keep_from_children(bip::mapped_region& mapping) {
  ::madvise(mapping.get_address(), mapping.get_size(), MADV_DONTFORK);
}

Result<SegmentPages> create_pages(const std::filesystem::path& path, std::size_t size_bytes) {
  Result<FileDescriptor> file = create_unnamed(path, size_bytes);
  if (!file) return file.error();
  try {
    SegmentPages pages;
    pages.mapping =
        bip::mapped_region(*file, bip::read_write, 0, size_bytes, nullptr, MAP_POPULATE);
    pages.file = std::move(*file);
    pages.guard = LostPageGuard({pages.bytes(), size_bytes});
    keep_from_children(pages.mapping);
    return pages;
  } catch (const bip::interprocess_exception& error) {
    return Error{ErrorKind::kSystem, path.string() + ": cannot map the segment: " + error.what()};
  }
}

}  // namespace

// The name is given up last.
struct SegmentWriter::State {
  SegmentOptions options;
  SegmentPlan plan;
  Incarnation incarnation;
  std::optional<OwnerLock> owner_lock;
  SegmentPages pages;
  Header header{};  // as it was written
  HotLines* hot = nullptr;
  std::atomic<std::uint64_t*> last_words = nullptr;  // where the handler writes
  Transaction::Tables tables;
  RingWriter<Event> events;
  RingWriter<HistorySample> history;
  // What was stored last. Nothing but the entries of the rings is read back from the segment, which
  // others may have damaged (RingWriter::move_to).
  std::uint64_t commit = 0;
  std::uint64_t beats = 0;
  std::uint64_t life = 0;
  std::uint64_t open_stamp = 0;  // of the open transaction; zero when none is open
  bool has_entries = false;      // appended to a ring in the open transaction

  explicit State(const SegmentOptions& given)
      : options(given),
        plan(plan_segment(given.capacity, given.extra_fields)),
        incarnation(new_incarnation()),
        events(plan.count_of(SectionId::kEvents)),
        history(plan.count_of(SectionId::kHistory)) {
    for_each_table([this]<class Record>() {
      constexpr SectionId kSection = TableOf<Record>::kSection;
      std::get<TableWriter<Record>>(tables) = TableWriter<Record>(
          plan.count_of(kSection), extra_bytes_of(kSection, options.extra_fields));
    });
  }

  Result<void> take_lock();
  void exchange_pages(SegmentPages& fresh);
  Result<void> link() const {
    return link_to_name(pages.file, options.path, {options.mode, options.group});
  }
};

Result<void> SegmentWriter::State::take_lock() {
  Result<OwnerLock> lock =
      OwnerLock::take(lock_path_of(options.path), Owned::kSegment, options.path.string());
  if (!lock) return lock.error();
  owner_lock = std::move(*lock);
  return {};
}

// Writes all that is known into the fresh pages and goes on there; gives back the old ones.
void SegmentWriter::State::exchange_pages(SegmentPages& fresh) {
  std::swap(pages, fresh);
  std::byte* const base = pages.bytes();
  write_header(base, plan, options, incarnation);
  std::memcpy(&header, base, sizeof(header));
  events.move_to(base + plan.offset_of(SectionId::kEvents), commit);
  history.move_to(base + plan.offset_of(SectionId::kHistory), commit);
  for_each_table([&]<class Record>() {
    std::get<TableWriter<Record>>(tables).move_to(base + plan.offset_of(TableOf<Record>::kSection));
  });
  hot = reinterpret_cast<HotLines*>(base + kHotLinesOffset);
  hot->heartbeat.interval_ns = options.heartbeat_interval_ns;
  hot->heartbeat.count = beats;
  hot->life.life = life;
  last_words = reinterpret_cast<std::uint64_t*>(base + plan.offset_of(SectionId::kLastWords));
  store_commit<MappedMemory>(hot->commit.commit, commit);
}

SegmentWriter::SegmentWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
SegmentWriter::SegmentWriter(SegmentWriter&&) noexcept = default;
SegmentWriter& SegmentWriter::operator=(SegmentWriter&&) noexcept = default;
SegmentWriter::~SegmentWriter() = default;

Result<SegmentWriter> SegmentWriter::publish_named(const SegmentOptions& options) {
  auto state = std::make_unique<State>(options);
  // First a look: nothing is left beside a file that is not to be replaced.
  if (Result<void> fine = check_predecessor(options.path); !fine) return fine.error();
  if (Result<void> taken = state->take_lock(); !taken) return taken.error();
  if (Result<void> retired = retire_predecessor(options.path); !retired) return retired.error();
  Result<SegmentPages> pages = create_pages(options.path, state->plan.total_bytes);
  if (!pages) return pages.error();
  state->exchange_pages(*pages);
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
  // First a look: while another file has the name, the pages that readers may have stay in use.
  if (is_name_lost()) {
    if (Result<void> fine = check_predecessor(path()); !fine) return fine.error();
  }
  Result<SegmentPages> pages = create_pages(path(), state_->plan.total_bytes);
  if (!pages) return pages.error();
  {
    const std::lock_guard lock(state_mutex);
    state_->exchange_pages(*pages);
  }
  std::error_code ignored;
  if (leads_to(path(), pages->file)) std::filesystem::remove(path(), ignored);
  if (Result<void> retired = retire_predecessor(path()); !retired) return retired.error();
  // The old pages' lock is held until the new ones have the name: readers move from live to live.
  return state_->link();
}

SegmentWriter SegmentWriter::in_private_memory(const SegmentOptions& options) {
  auto state = std::make_unique<State>(options);
  SegmentPages pages;
  pages.mapping = bip::anonymous_shared_memory(state->plan.total_bytes);
  state->exchange_pages(pages);
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
  MappedMemory::store(hot.heartbeat.count, ++state_->beats, std::memory_order_release);
}

void SegmentWriter::set_life(EngineLife life, std::uint32_t exit_code) noexcept {
  state_->life = static_cast<std::uint64_t>(life) | std::uint64_t{exit_code} << 32;
  // Pairs with the reader's load(acquire): what was published before a state is seen with it.
  MappedMemory::store(state_->hot->life.life, state_->life, std::memory_order_release);
}

void SegmentWriter::note_signal(int signal) noexcept {
  MappedMemory::store(state_->hot->life.last_signal, static_cast<std::uint64_t>(signal),
                      std::memory_order_release);
}

void SegmentWriter::write_last_words(const LastWords& words) noexcept {
  std::uint64_t* const to = state_->last_words.load();
  std::uint64_t from[sizeof(LastWords) / 8];
  std::memcpy(from, &words, sizeof(words));
  for (std::size_t i = 1; i < std::size(from); ++i) {
    MappedMemory::store(to[i], from[i], MappedMemory::kWordStore);
  }
  // Pairs with the reader's load(acquire) of `written`.
  MappedMemory::store(to[0], 1, std::memory_order_release);
}

bool SegmentWriter::is_shared() const { return state_->pages.file.is_open(); }
std::string SegmentWriter::reader_obstacle() const {
  if (!is_shared() || is_in_memory(state_->pages.file)) return {};
  return path().string() +
         ": is not in a tmpfs, so readers refuse the segment without --any-filesystem";
}

const std::filesystem::path& SegmentWriter::path() const { return state_->options.path; }
std::string SegmentWriter::incarnation() const { return incarnation_text(state_->incarnation); }

bool SegmentWriter::is_name_lost() const {
  return is_shared() && !leads_to(path(), state_->pages.file);
}

bool SegmentWriter::is_damaged() const {
  if (!is_shared()) return false;
  const SegmentPages& pages = state_->pages;
  const std::size_t total_bytes = state_->plan.total_bytes;
  struct stat own {};
  if (::fstat(pages.file.number(), &own) != 0) return false;
  // A file that was cut and made longer again has holes.
  const std::size_t held_bytes = static_cast<std::size_t>(own.st_blocks) * 512;
  if (static_cast<std::size_t>(own.st_size) < total_bytes || held_bytes < total_bytes) return true;
  Header header{};
  return ::pread(pages.file.number(), &header, sizeof(header), 0) != sizeof(header) ||
         std::memcmp(&header, &state_->header, sizeof(header)) != 0;
}

bool SegmentWriter::are_rows_damaged(std::mutex& state_mutex) const {
  if (!is_shared()) return false;
  bool is_intact = true;
  {
    const std::lock_guard lock(state_mutex);
    const std::uint64_t commit = load_commit<MappedMemory>(state_->hot->commit.commit);
    is_intact =
        commit == state_->commit && state_->events.is_intact() && state_->history.is_intact();
  }
  for_each_table([&]<class Record>() {
    const auto& table = std::get<TableWriter<Record>>(state_->tables);
    for (std::uint32_t row = 0; is_intact && row < table.count(); row += kRowsAtOnce) {
      const std::lock_guard lock(state_mutex);
      is_intact = table.are_intact(row, kRowsAtOnce);
    }
  });
  return !is_intact;
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
  state.open_stamp = state.commit + 1;
  state.has_entries = false;
}

void Transaction::append(const Event& event) noexcept {
  state_.events.append(event, state_.open_stamp);
  state_.has_entries = true;
}

void Transaction::append(const HistorySample& sample) noexcept {
  state_.history.append(sample, state_.open_stamp);
  state_.has_entries = true;
}

Transaction::~Transaction() {
  bool has_changes = state_.has_entries;
  for_each_table([&]<class Record>() {
    has_changes |= std::get<TableWriter<Record>>(tables_).flush(state_.open_stamp);
  });
  if (has_changes) {
    state_.commit = state_.open_stamp;
    store_commit<MappedMemory>(state_.hot->commit.commit, state_.commit);
  }
  state_.open_stamp = 0;
}

}  // namespace vitrine::shm
