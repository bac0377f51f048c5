// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/damaged_segment.h"

#include <algorithm>
#include <cstring>

#include "tests/shm/filled_segment.h"

namespace vitrine::fuzz {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

template <class Value>
Value load(const std::string& bytes, std::size_t offset) {
  Value value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

// As much of the value as the file has room for.
template <class Value>
void store(std::string& bytes, std::size_t offset, Value value) {
  if (offset >= bytes.size()) return;
  std::memcpy(bytes.data() + offset, &value, std::min(sizeof(value), bytes.size() - offset));
}

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

Base base_after(std::uint64_t commits) {
  Base base{.bytes = shm::filled_segment(commits), .places = {}};
  make_repeatable(base.bytes);
  base.places = places_in(base.bytes);
  return base;
}

struct Step {
  Damage kind;
  std::uint8_t length;
  std::uint16_t place;
  std::uint64_t value;
};

void apply(const Step& step, const std::vector<std::uint32_t>& places, std::string& bytes) {
  const std::size_t at = places[step.place % places.size()];
  switch (step.kind) {
    case Damage::kSetWord:
      return store(bytes, at, step.value);
    case Damage::kSetHalf:
      return store(bytes, at, static_cast<std::uint32_t>(step.value));
    case Damage::kAdd:
      if (at + 8 <= bytes.size()) store(bytes, at, load<std::uint64_t>(bytes, at) + step.value);
      return;
    case Damage::kAnywhere:
      return store(bytes, (step.value >> 32) % (bytes.size() + 1),
                   static_cast<std::uint32_t>(step.value));
    case Damage::kTruncate:
      return bytes.resize(step.value % (bytes.size() + 1));
    case Damage::kFill:
      for (std::size_t i = 0; i < step.length; ++i) {
        store(bytes, at + i, static_cast<std::uint8_t>(step.value));
      }
      return;
    case Damage::kCopy: {
      const std::size_t from = places[step.value % places.size()];
      if (from + 8 <= bytes.size()) store(bytes, at, load<std::uint64_t>(bytes, from));
      return;
    }
    case Damage::kKinds:
      return;
  }
}

}  // namespace

const std::vector<Base>& bases() {
  static const std::vector<Base> kBases = {base_after(0), base_after(1), base_after(11)};
  return kBases;
}

std::string damaged_segment(std::span<const std::uint8_t> script) {
  if (script.empty()) return {};
  const std::size_t number = script[0] & ~kStateOnly;
  std::span<const std::uint8_t> steps = script.subspan(1);
  if (number >= bases().size()) return {steps.begin(), steps.end()};
  const Base& base = bases()[number];
  std::string bytes = base.bytes;
  for (std::size_t done = 0; steps.size() >= kStepBytes && done < kStepsMax; ++done) {
    Step step;
    step.kind = static_cast<Damage>(steps[0] % static_cast<std::uint8_t>(Damage::kKinds));
    step.length = steps[1];
    std::memcpy(&step.place, &steps[2], sizeof(step.place));
    std::memcpy(&step.value, &steps[4], sizeof(step.value));
    apply(step, base.places, bytes);
    steps = steps.subspan(kStepBytes);
  }
  return bytes;
}

}  // namespace vitrine::fuzz
