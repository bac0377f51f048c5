// SPDX-License-Identifier: Apache-2.0
// A segment as an engine would publish it: the real writer, without an engine behind it.
#pragma once

#include <filesystem>

#include "shm/layout.h"
#include "shm/segment_writer.h"

namespace vitrine::tests {

// Publishes `instance` in `directory` with a small segment, one device, one worker, one job of
// four partitions in four stages, and one heartbeat; the next is promised after `interval_ns`.
// Ready until told otherwise; dead once the writer is destroyed.
shm::SegmentWriter publish_engine(const std::filesystem::path& directory,
                                  const std::string& instance,
                                  std::uint64_t interval_ns = 10'000'000'000);
// The same at a path of another name.
shm::SegmentWriter publish_engine_at(const std::filesystem::path& path, const std::string& instance,
                                     std::uint64_t interval_ns);

// Appends that many events to the ring.
void append_events(shm::SegmentWriter& writer, std::uint32_t count);

// Stores `word` in place of word `index` of a table's row: 0 is the row's head; a slot begins at
// word 16.
void overwrite_row(const std::filesystem::path& path, shm::SectionId table, std::size_t index,
                   std::uint64_t word);

// Fills the event ring of the segment at `path` with noise, its head too.
void damage_events(const std::filesystem::path& path);

inline constexpr std::uint32_t kTestEventCapacity = 64;
inline constexpr std::uint64_t kTestJob = 7;

}  // namespace vitrine::tests
