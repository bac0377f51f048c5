// SPDX-License-Identifier: Apache-2.0
// Reads a section from front to back through a buffer, for sections whose records have no fixed
// length.
//
// Threads: one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "engine/binary_container.h"
#include "engine/error.h"

namespace vitrine::engine {

class SectionStream {
 public:
  SectionStream(const BinaryContainer& container, const ContainerSection& section)
      : container_(container), section_(section) {}

  [[nodiscard]] std::uint64_t left_bytes() const { return section_.length_bytes - position_bytes_; }

  // The next value. False when the section has no more, or when reading failed: see error().
  template <class Value>
  [[nodiscard]] bool take(Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    if (left_bytes() < sizeof(Value)) {
      error_ = container_.section_error(section_.type, "ends inside a record");
      return false;
    }
    if (!fill(sizeof(Value))) return false;
    std::memcpy(&value, unread_.data(), sizeof(Value));
    unread_ = unread_.subspan(sizeof(Value));
    position_bytes_ += sizeof(Value);
    return true;
  }

  // Why take() answered false.
  [[nodiscard]] const Error& error() const { return *error_; }

 private:
  static constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

  bool fill(std::size_t needed_bytes) {
    if (unread_.size() >= needed_bytes) return true;
    buffer_.resize(std::min<std::uint64_t>(kBufferBytes, left_bytes()));
    auto done = container_.read(section_, position_bytes_, buffer_);
    if (!done) {
      error_ = done.error();
      return false;
    }
    unread_ = buffer_;
    return true;
  }

  const BinaryContainer& container_;
  ContainerSection section_;
  std::uint64_t position_bytes_ = 0;
  std::vector<std::byte> buffer_;
  std::span<const std::byte> unread_;
  std::optional<Error> error_;
};

}  // namespace vitrine::engine
