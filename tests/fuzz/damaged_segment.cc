// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/damaged_segment.h"

#include <algorithm>
#include <cstring>

#include "tests/shm/filled_segment.h"

namespace vitrine::fuzz {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

// What differs from run to run gets a value of its own.
void make_repeatable(std::string& bytes) {
  auto header = load<shm::Header>(bytes, 0);
  header.incarnation.fill(0xAB);
  header.boot_id.fill(0xCD);
  header.pid = 4711;
  header.pid_namespace_inode = 4026531836;
  header.process_start_ticks = 12345;
  header.uid = 1000;
  header.created_unix_ns = 1'800'000'000 * kSecond;
  header.host = {'h', 'o', 's', 't'};
  store(bytes, 0, header);
  const std::size_t hot = header.fixed.header_bytes;
  store(bytes, hot + offsetof(shm::HotLines, heartbeat.monotonic_ns), 200 * kSecond);
  store(bytes, hot + offsetof(shm::HotLines, time_anchor.unix_minus_monotonic_ns),
        1'800'000'000 * kSecond);
}

std::vector<std::uint32_t> places_in(const std::string& bytes) {
  std::vector<std::uint32_t> places;
  const auto header = load<shm::Header>(bytes, 0);
  const std::size_t sections_end =
      shm::kSectionTableOffset + header.section_count * sizeof(shm::SectionEntry);
  for (std::uint32_t at = 0; at < sections_end; at += 4) places.push_back(at);
  for (std::uint32_t at = 0; at < sizeof(shm::HotLines); at += 8) {
    if (at % shm::kLineBytes < 32) places.push_back(header.fixed.header_bytes + at);
  }
  for (std::uint32_t i = 0; i < header.section_count; ++i) {
    const auto entry =
        load<shm::SectionEntry>(bytes, shm::kSectionTableOffset + i * sizeof(shm::SectionEntry));
    const auto offset = static_cast<std::uint32_t>(entry.offset_bytes);
    // Of the words that are always zero none decides anything.
    const std::uint64_t end =
        entry.offset_bytes + std::uint64_t{entry.count} * entry.stride_bytes + shm::kLineBytes;
    for (std::uint32_t at = offset; at < std::min<std::uint64_t>(end, bytes.size()); at += 4) {
      const bool is_first_line = (at - offset) % std::max(entry.stride_bytes, 1U) < 16;
      if (is_first_line || load<std::uint32_t>(bytes, at) != 0) places.push_back(at);
    }
  }
  return places;
}

}  // namespace

Base segment_after(std::uint64_t commits) {
  Base base{.bytes = shm::filled_segment(commits), .places = {}};
  make_repeatable(base.bytes);
  base.places = places_in(base.bytes);
  return base;
}

std::vector<Base> segment_bases() {
  return {segment_after(0), segment_after(1), segment_after(11)};
}

}  // namespace vitrine::fuzz
