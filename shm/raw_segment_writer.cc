// SPDX-License-Identifier: Apache-2.0
#include "shm/raw_segment_writer.h"

#include <boost/interprocess/mapped_region.hpp>
#include <cstring>

#include "shm/clock.h"
#include "shm/lost_page_writer.h"
#include "shm/owner_lock_writer.h"
#include "shm/paths.h"
#include "shm/protocol.h"
#include "shm/publication_writer.h"
#include "shm/segment_plan_writer.h"

namespace vitrine::shm {

namespace bip = boost::interprocess;

namespace {

constexpr std::uint64_t kIntervalNs = 100'000'000;
constexpr unsigned kMode = 0640;

// The recorded header with who publishes it now.
Header replayed_header(const RawLayout& recorded, const std::string& instance) {
  SegmentOptions options;
  options.instance = instance;
  const Header mine = header_of({}, options, new_incarnation());
  Header header = recorded.header;
  header.incarnation = mine.incarnation;
  header.boot_id = new_incarnation();
  header.pid = mine.pid;
  header.pid_namespace_inode = mine.pid_namespace_inode;
  header.process_start_ticks = mine.process_start_ticks;
  header.uid = mine.uid;
  header.created_unix_ns = mine.created_unix_ns;
  header.host = mine.host;
  header.instance = mine.instance;
  header.api_socket_path = {};
  return header;
}

}  // namespace

// Order of members is order of life: the mapping goes before the file that carries the lock.
struct RawSegmentWriter::State {
  std::filesystem::path path;
  std::optional<OwnerLock> owner_lock;
  FileDescriptor file;
  bip::mapped_region mapping;
  LostPageGuard guard;
  HotLines* hot = nullptr;
  std::uint64_t beats = 0;
};

RawSegmentWriter::RawSegmentWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
RawSegmentWriter::RawSegmentWriter(RawSegmentWriter&&) noexcept = default;
RawSegmentWriter& RawSegmentWriter::operator=(RawSegmentWriter&&) noexcept = default;
RawSegmentWriter::~RawSegmentWriter() = default;

Result<RawSegmentWriter> RawSegmentWriter::create(const RawLayout& recorded,
                                                  const std::filesystem::path& path,
                                                  const std::string& instance) {
  auto state = std::make_unique<State>();
  state->path = path;
  if (Result<void> fine = check_predecessor(path); !fine) return fine.error();
  Result<OwnerLock> lock = OwnerLock::take(lock_path_of(path), Owned::kSegment, path.string());
  if (!lock) return lock.error();
  state->owner_lock = std::move(*lock);
  if (Result<void> retired = retire_predecessor(path); !retired) return retired.error();
  const std::size_t size_bytes = recorded.total_bytes();
  Result<FileDescriptor> file = create_unnamed(path, size_bytes);
  if (!file) return file.error();
  state->file = std::move(*file);
  try {
    state->mapping = bip::mapped_region(state->file, bip::read_write, 0, size_bytes);
  } catch (const bip::interprocess_exception& error) {
    return Error{ErrorKind::kSystem, path.string() + ": cannot map the segment: " + error.what()};
  }
  auto* bytes = static_cast<std::byte*>(state->mapping.get_address());
  state->guard = LostPageGuard({bytes, size_bytes});
  std::memcpy(bytes, recorded.header_bytes.data(), recorded.header_bytes.size());
  const Header header = replayed_header(recorded, instance);
  std::memcpy(bytes, &header, sizeof(header));
  state->hot = reinterpret_cast<HotLines*>(bytes + recorded.header.fixed.header_bytes);
  state->hot->heartbeat.interval_ns = kIntervalNs;
  return RawSegmentWriter(std::move(state));
}

std::byte* RawSegmentWriter::bytes() const {
  return static_cast<std::byte*>(state_->mapping.get_address());
}

void RawSegmentWriter::beat(std::uint64_t engine_ns) {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  HotLines& hot = *state_->hot;
  MappedMemory::store(hot.time_anchor.unix_minus_monotonic_ns,
                      static_cast<std::uint64_t>(unix_ns()) - engine_ns, kRelaxed);
  MappedMemory::store(hot.heartbeat.monotonic_ns, engine_ns, kRelaxed);
  // Pairs with the reader's load(acquire) of count: it then sees this beat's time or a later one.
  MappedMemory::store(hot.heartbeat.count, ++state_->beats, std::memory_order_release);
}

void RawSegmentWriter::close() {
  std::uint64_t& life = state_->hot->life.life;
  const auto word = MappedMemory::load(life, std::memory_order_relaxed) & 0xFFFFFFFF;
  if (word == static_cast<std::uint64_t>(EngineLife::kClosed)) return;
  // Pairs with the reader's load(acquire): what was played before is seen with it.
  MappedMemory::store(life, static_cast<std::uint64_t>(EngineLife::kClosed),
                      std::memory_order_release);
}

Result<void> RawSegmentWriter::link() {
  return link_to_name(state_->file, state_->path, {kMode, {}});
}

void RawSegmentWriter::unlink_name() {
  std::error_code ignored;
  if (!leads_to(state_->path, state_->file)) return;
  std::filesystem::remove(state_->path, ignored);
  std::filesystem::remove(lock_path_of(state_->path), ignored);  // held, so it is nobody else's
}

}  // namespace vitrine::shm
