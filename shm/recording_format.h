// SPDX-License-Identifier: Apache-2.0
// The format of a recording: moments of a segment in a file that only grows.
//
// Layout   RecordingFileHeader, then chunks: ChunkHeader and `payload_bytes` of payload.
//            kSegment  first and once: all bytes of the segment before its hot lines
//            kFrame    FrameHeader, then parts: PartHeader and `words` words. A frame is one
//                      moment; it holds what changed since the frame before it, and the first
//                      frame holds everything that is not zero
//            kEnd      last: the recorder ended, it was not killed
//          Sections, record sizes and strides are those of the segment chunk, so sections that
//          no program here knows are recorded and played like the others.
// Units    native byte order, named in the file header; sizes are multiples of 8.
// Crash    a chunk counts when it is whole and its checksum holds, so a file that was cut
//          anywhere is readable up to there (docs/decisions/0008-recordings.md).
// Evolution  chunks and parts of an unknown kind are passed over.
#pragma once

#include <array>
#include <cstdint>

namespace vitrine::shm {

inline constexpr std::array<char, 8> kRecordingMagic = {'V', 'I', 'T', 'R', 'R', 'E', 'C', '\0'};
inline constexpr std::uint16_t kRecordingMajor = 1;
inline constexpr std::uint16_t kRecordingMinor = 0;

struct RecordingFileHeader {
  std::array<char, 8> magic;
  std::uint32_t byte_order;  // kByteOrder of the segment
  std::uint16_t major;
  std::uint16_t minor;
};
static_assert(sizeof(RecordingFileHeader) == 16);

enum class ChunkKind : std::uint32_t { kSegment = 1, kFrame = 2, kEnd = 3 };

struct ChunkHeader {
  std::uint32_t kind;
  std::uint32_t payload_bytes;
  std::uint32_t checksum;  // CRC-32 (as zlib's) of kind, payload_bytes and the payload
  std::uint32_t reserved;
};
static_assert(sizeof(ChunkHeader) == 16);

inline constexpr std::uint32_t kFrameLockHeld = 1;    // the engine lived when the frame was taken
inline constexpr std::uint32_t kFrameNameLinked = 2;  // and its name led to the segment

struct FrameHeader {
  std::int64_t taken_unix_ns;     // the recorder's wall clock
  std::uint64_t taken_engine_ns;  // the engine's monotonic clock at that moment
  std::uint64_t commit;
  std::uint32_t flags;
  std::uint32_t reserved;
};
static_assert(sizeof(FrameHeader) == 32);

// Plain words: `count` words from word `first`. Row: row `first`, count 1. Ring: `count` entries
// from sequence `first`; a gap to the entry before says how many were missed.
struct PartHeader {
  std::uint32_t shape;  // SectionShape
  std::uint32_t section;
  std::uint64_t first;
  std::uint32_t count;
  std::uint32_t words;  // that follow
};
static_assert(sizeof(PartHeader) == 24);

// The checksum of a chunk.
std::uint32_t checksum_of(const ChunkHeader& header, const void* payload);

}  // namespace vitrine::shm
