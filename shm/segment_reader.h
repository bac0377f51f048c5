// SPDX-License-Identifier: Apache-2.0
// SegmentReader: one segment, attached: consistent snapshots, events, liveness.
//
// Reader   maps read-only and writes nothing; a mode-0440 segment is enough. Whatever the bytes
//          are, it never crashes, loops or reads outside: the layout is checked once at attach,
//          rows are copied through a guard that turns a vanished page into an error.
// Threads  one at a time; different readers are independent.
// Cost     a snapshot is one copy per row in use; no system call.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shm/error.h"
#include "shm/incarnation.h"
#include "shm/liveness.h"
#include "shm/recording_reader.h"
#include "shm/segment_access.h"
#include "shm/segment_schema.h"
#include "shm/snapshot.h"

namespace vitrine::shm {

// What the header says about the incarnation; constant for its life.
struct SegmentIdentity {
  struct Table {
    std::string_view name;
    std::uint32_t rows;  // capacity
  };

  std::filesystem::path path;
  std::string instance;
  std::string host;
  std::string engine_version;
  std::string api_socket_path;
  std::string incarnation;  // 32 hex digits
  std::uint64_t pid = 0;
  std::uint64_t pid_namespace_inode = 0;
  std::uint64_t process_start_ticks = 0;
  std::uint32_t uid = 0;
  std::array<std::uint8_t, 16> boot_id{};
  std::uint64_t created_unix_ns = 0;
  std::uint16_t major = 0;
  std::uint16_t minor = 0;
  std::uint64_t required_features = 0;
  std::uint64_t optional_features = 0;
  std::uint64_t schema_hash = 0;
  std::uint64_t total_bytes = 0;
  std::uint32_t event_capacity = 0;
  std::vector<Table> tables;
  std::string schema_text;  // JSON (shm/schema_text.h); empty for a segment of version 1.0
  // What the segment has beyond this program's catalogue; null when nothing.
  std::shared_ptr<const SegmentSchema> schema;
};

struct EventBatch {
  std::vector<Event> events;  // by sequence, without a gap
  // Events after the one asked for that were overwritten, or lost when somebody damaged the
  // segment; exact. A batch ends before lost events in its middle: it may be short of the newest.
  std::uint64_t missed = 0;
  std::uint64_t last_sequence = 0;  // ask for the events after this one next
  bool has_more = false;            // perhaps: behind lost events, or beyond the limit
};

class SegmentReader {
 public:
  // Maps a live segment (or one whose engine died but still has its name). Errors: kAbsent,
  // kUnreadable, kCorrupt, kUnsupported, kSystem.
  static Result<SegmentReader> attach(const std::filesystem::path& path,
                                      const AttachOptions& options = {});
  // Reads a dead segment, or a recording up to its last frame, into memory. kInUse when the
  // segment's engine lives: a file that changes while it is read has no one moment.
  static Result<SegmentReader> open_file(const std::filesystem::path& path);
  // The same from the bytes of such a file, which are copied; `path` names them in the errors.
  static Result<SegmentReader> open_bytes(std::span<const std::byte> file,
                                          const std::filesystem::path& path);
  // Shows a recording frame by frame, from its first one on. kCorrupt when it has none.
  static Result<SegmentReader> of_recording(RecordingReader recording);

  SegmentReader(SegmentReader&&) noexcept;
  SegmentReader& operator=(SegmentReader&&) noexcept;
  ~SegmentReader();

  const SegmentIdentity& identity() const;

  // Fills `snapshot` with the state at the newest commit. Bounded: after 64 tries the snapshot
  // says consistent = false, which is not an error. Errors: kCorrupt when the file shrank under
  // the mapping; `snapshot` is then untouched.
  [[nodiscard]] Result<void> snapshot(Snapshot& snapshot);

  // Number of the last complete transaction: one load, to poll by. Zero when the page is gone.
  std::uint64_t commit() const;

  // The events of complete transactions after `sequence`, at most `limit`. Zero asks for the
  // oldest kept. Errors: kCorrupt.
  Result<EventBatch> events_after(std::uint64_t sequence, std::size_t limit);

  // The samples of the history ring that are kept, oldest first. Errors: kCorrupt.
  Result<std::vector<HistorySample>> history();

  Liveness liveness() const;

  // The recording that is shown, or null.
  const RecordingReader* recording() const;
  // Goes to the recording's next frame; false at its end, and for anything but a recording.
  bool next_frame();

  // All bytes, as mapped or read: untrusted, and those of a live segment change and may be lost.
  std::span<const std::byte> bytes() const;

 private:
  struct State;

  explicit SegmentReader(std::unique_ptr<State> state);
  // Reads what begins with `count` bytes of a file.
  static Result<SegmentReader> open_copy(std::vector<std::uint64_t> words, std::size_t count,
                                         const std::filesystem::path& path);

  std::unique_ptr<State> state_;
};

}  // namespace vitrine::shm
