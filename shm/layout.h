// SPDX-License-Identifier: Apache-2.0
// The segment from its first byte: header, table of sections, hot lines, tables, event ring.
//
// Layout
//        0  FixedHeader        64 bytes, the same in every version for ever
//       64  Header             identity of the incarnation, names, number of sections
//      512  SectionEntry[32]   where each section lies, its record size, stride and count
//     2048  HotLines           single atomics, each on its own 128 bytes
//     ....  tables             per row: one 128-byte line with `head`, then kSlots slots
//     ....  rings              one 128-byte line with `head`, then `count` entries
//     ....  schema text        JSON (shm/schema_text.h)
//     ....  last words         shm/records.h LastWords, stored by a signal handler
//   A slot is the payload rounded up to 64 bytes; sections begin on 4096-byte pages. The second
//   word of a table's first line says how many of its rows were ever used (zero: not told), so
//   that a snapshot need not look at the rest.
// Units    offsets in bytes from the start of the segment; native byte order, named in the header.
// Writer   fills everything up to the tables before the segment has a name (shm/publication.h).
// Crash    nothing here ever says "being written": `head` and `commit` name complete things only.
// Evolution  sections and members are appended; readers use the strides found in the file.
#pragma once

#include <array>
#include <cstdint>

#include "shm/words.h"

namespace vitrine::shm {

inline constexpr std::array<char, 8> kMagic = {'V', 'I', 'T', 'R', 'I', 'N', 'E', '\0'};
inline constexpr std::uint32_t kByteOrder = 0x01020304;
inline constexpr std::uint16_t kMajorVersion = 1;
inline constexpr std::uint16_t kMinorVersion = 2;
inline constexpr std::size_t kLineBytes = 128;
inline constexpr std::size_t kPageBytes = 4096;
inline constexpr std::size_t kSlots = 4;  // K of shm/protocol.h
inline constexpr std::size_t kSectionCapacity = 32;
inline constexpr std::size_t kSectionTableOffset = 512;
inline constexpr std::size_t kHotLinesOffset = 2048;
inline constexpr std::size_t kSegmentBytesMax = std::size_t{1} << 30;

// Optional features: what a segment has that version 1.0 had not. Nobody has to know them.
inline constexpr std::uint64_t kFeatureSchemaText = 1U << 0;
inline constexpr std::uint64_t kFeatureRowsEverUsed = 1U << 1;  // the second word of a table
inline constexpr std::uint64_t kFeatureSectionKinds = 1U << 2;  // SectionEntry::kind is set
inline constexpr std::uint64_t kFeatureLastWords = 1U << 3;

struct FixedHeader {
  std::array<char, 8> magic;
  std::uint32_t byte_order;
  std::uint16_t major;
  std::uint16_t minor;
  std::uint32_t header_bytes;  // where the hot lines begin
  std::uint32_t reserved_word;
  std::uint64_t total_bytes;
  std::uint64_t required_features;  // a reader that does not know a bit must refuse
  std::uint64_t optional_features;
  std::uint64_t reserved[2];
};
static_assert(sizeof(FixedHeader) == 64);

struct Header {
  FixedHeader fixed;
  std::array<std::uint8_t, 16> incarnation;  // random, new for every engine process
  std::array<std::uint8_t, 16> boot_id;
  std::uint64_t pid;
  std::uint64_t pid_namespace_inode;
  std::uint64_t process_start_ticks;  // field 22 of /proc/PID/stat
  std::uint32_t uid;
  std::uint32_t section_count;
  std::uint64_t schema_hash;  // of the schema text; 1.0: of the layout
  std::uint64_t created_unix_ns;
  std::array<char, 64> host;
  std::array<char, 32> engine_version;
  std::array<char, 40> instance;
  std::array<char, 112> api_socket_path;
};
static_assert(sizeof(Header) == 392);

// What a section is made of, so that one with an unknown id can be read too.
enum class SectionKind : std::uint32_t {
  kUnknown,  // version 1.0: told by the id
  kTable,    // versioned rows (shm/protocol.h)
  kRing,     // numbered entries, the newest `count` of them
  kBlock,    // single words, each an atomic of its own
  kText      // constant; record_bytes is its length
};
template <>
struct WordList<SectionKind> {
  static constexpr std::string_view kWords[] = {"unknown", "table", "ring", "block", "text"};
};

struct SectionEntry {
  std::uint32_t id;  // SectionId
  std::uint32_t record_bytes;
  std::uint32_t stride_bytes;
  std::uint32_t count;
  std::uint64_t offset_bytes;
  SectionKind kind;
  std::uint32_t reserved;
};
static_assert(sizeof(SectionEntry) == 32);
static_assert(sizeof(Header) <= kSectionTableOffset);
static_assert(kSectionTableOffset + kSectionCapacity * sizeof(SectionEntry) <= kHotLinesOffset);

// Single words that are stored outside transactions, and the commit that ends each one.
struct HotLines {
  struct alignas(kLineBytes) Commit {
    std::uint64_t commit;  // number of the last complete transaction
  } commit;
  struct alignas(kLineBytes) Life {
    std::uint64_t life;         // EngineLife in the low half, exit code in the high half
    std::uint64_t last_signal;  // stored by the signal handler; zero when none
  } life;
  struct alignas(kLineBytes) Heartbeat {
    std::uint64_t count;
    std::uint64_t interval_ns;   // how often `count` is promised to move
    std::uint64_t monotonic_ns;  // time of the last beat
  } heartbeat;
  struct alignas(kLineBytes) TimeAnchor {
    std::uint64_t unix_minus_monotonic_ns;  // two's complement; adds to an Instant
  } time_anchor;
};
static_assert(sizeof(HotLines) == 4 * kLineBytes);

constexpr std::size_t slot_bytes(std::size_t record_bytes) { return (record_bytes + 63) / 64 * 64; }
constexpr std::size_t record_stride_bytes(std::size_t record_bytes) {
  return (kLineBytes + kSlots * slot_bytes(record_bytes) + kLineBytes - 1) / kLineBytes *
         kLineBytes;
}

}  // namespace vitrine::shm
