// SPDX-License-Identifier: Apache-2.0
// The kinds of value a record is made of. A member's C++ type decides how every output shows it,
// so a catalogue row never states a type twice.
//
// Layout   all are 4 or 8 bytes, or a text of a multiple of 8 bytes; little or big endian as the
//          header says; no padding between members.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "shm/words.h"

namespace vitrine::shm {

// A name for a job or a sequence: compared, never added. Zero is absent. JSON: a string.
struct Id {
  std::uint64_t value = 0;
  friend bool operator==(const Id&, const Id&) = default;
};

// An instant on CLOCK_MONOTONIC of the engine's host, in ns. Zero is absent.
// JSON: NAME_time (RFC 3339, UTC) and NAME_age_seconds.
struct Instant {
  std::uint64_t ns = 0;
  bool is_set() const { return ns != 0; }
  friend bool operator==(const Instant&, const Instant&) = default;
};

// A row, worker, device or partition number counted from zero, kept as number + 1 so that zero
// is absent. JSON: the number, or null.
struct Index {
  std::uint32_t plus_one = 0;
  static Index of(std::uint32_t number) { return Index{number + 1}; }
  bool is_set() const { return plus_one != 0; }
  std::uint32_t number() const { return plus_one - 1; }
  friend bool operator==(const Index&, const Index&) = default;
};

// UTF-8 text of at most kSize bytes, padded with zero bytes, cut at a character when too long.
template <std::size_t kSize>
struct Text {
  static_assert(kSize % 8 == 0);
  char bytes[kSize] = {};

  Text() = default;
  Text(std::string_view text) { assign(text); }  // NOLINT(google-explicit-constructor)

  void assign(std::string_view text) {
    std::size_t length = std::min(text.size(), kSize);
    if (length < text.size()) {
      while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) --length;
    }
    std::memset(bytes, 0, kSize);
    std::copy_n(text.data(), length, bytes);  // also from nowhere, when there is no text
  }
  std::string_view view() const { return {bytes, strnlen(bytes, kSize)}; }
};

// Durations counted by size: bucket i holds those of at most kBoundsNs[i] that bucket i - 1 did not
// take, the last one all that are longer. JSON: a list of {le_seconds, count}.
struct Histogram {
  static constexpr std::uint64_t kMs = 1'000'000;
  static constexpr std::array<std::uint64_t, 22> kBoundsNs = {kMs,
                                                              2 * kMs,
                                                              5 * kMs,
                                                              10 * kMs,
                                                              20 * kMs,
                                                              50 * kMs,
                                                              100 * kMs,
                                                              200 * kMs,
                                                              500 * kMs,
                                                              1'000 * kMs,
                                                              2'000 * kMs,
                                                              5'000 * kMs,
                                                              10'000 * kMs,
                                                              20'000 * kMs,
                                                              50'000 * kMs,
                                                              100'000 * kMs,
                                                              200'000 * kMs,
                                                              500'000 * kMs,
                                                              1000'000 * kMs,
                                                              2000'000 * kMs,
                                                              5000'000 * kMs,
                                                              10'000'000 * kMs};
  std::array<std::uint64_t, kBoundsNs.size() + 1> counts{};

  void add(std::uint64_t duration_ns) {
    const auto bound = std::lower_bound(kBoundsNs.begin(), kBoundsNs.end(), duration_ns);
    ++counts[static_cast<std::size_t>(bound - kBoundsNs.begin())];
  }
};

enum class FieldType : std::uint32_t {
  kU32,
  kU64,
  kEnum,
  kId,
  kInstant,
  kIndex,
  kText,
  kHistogram,
  kReserved
};
template <>
struct WordList<FieldType> {
  static constexpr std::string_view kWords[] = {"u32",   "u64",  "enum",      "id",      "instant",
                                                "index", "text", "histogram", "reserved"};
};

template <class Member>
struct FieldTypeOf;
template <>
struct FieldTypeOf<std::uint32_t> {
  static constexpr FieldType kType = FieldType::kU32;
};
template <>
struct FieldTypeOf<std::uint64_t> {
  static constexpr FieldType kType = FieldType::kU64;
};
template <>
struct FieldTypeOf<Id> {
  static constexpr FieldType kType = FieldType::kId;
};
template <>
struct FieldTypeOf<Instant> {
  static constexpr FieldType kType = FieldType::kInstant;
};
template <>
struct FieldTypeOf<Index> {
  static constexpr FieldType kType = FieldType::kIndex;
};
template <std::size_t kSize>
struct FieldTypeOf<Text<kSize>> {
  static constexpr FieldType kType = FieldType::kText;
};
template <>
struct FieldTypeOf<Histogram> {
  static constexpr FieldType kType = FieldType::kHistogram;
};
template <Worded Enum>
struct FieldTypeOf<Enum> {
  static constexpr FieldType kType = FieldType::kEnum;
};

// How a value behaves over time; decides how an exporter may treat it.
enum class Semantics : std::uint32_t { kInfo, kState, kGauge, kCounter };
template <>
struct WordList<Semantics> {
  static constexpr std::string_view kWords[] = {"info", "state", "gauge", "counter"};
};

// One row of the catalogue: everything an output needs to know about one member.
struct Field {
  std::string_view name;
  FieldType type;
  std::uint32_t offset_bytes;
  std::uint32_t size_bytes;
  Semantics semantics;
  Words words;
  std::string_view help;
};

template <class Member>
constexpr Words words_of_member() {
  if constexpr (Worded<Member>) {
    return Words(WordList<Member>::kWords);
  } else {
    return {};
  }
}

}  // namespace vitrine::shm
