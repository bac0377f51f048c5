// SPDX-License-Identifier: Apache-2.0
// ErrorLog: the distinct errors of an incarnation, each with how often, when first and when last.
//
// Threads: guarded by the engine's state mutex. Cost: no allocation once full of texts.
// Why: texts that differ only in their numbers are one error, so a fault that strikes every job
// takes one row instead of pushing the others out. Full, it gives up the one not seen for longest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shm/field.h"
#include "shm/words.h"

namespace vitrine::engine {

// One occurrence.
struct ErrorNote {
  shm::FailureClass failure_class{};
  std::string_view text;
  std::uint64_t job = 0;  // zero: not about a job
  std::optional<std::uint32_t> partition, device;
};

class ErrorLog {
 public:
  struct Entry {
    shm::FailureClass failure_class{};
    std::string text;  // of the first occurrence
    std::uint64_t count = 0;
    shm::Instant first, last;
    std::uint64_t job = 0;  // of the last occurrence, as those below
    std::optional<std::uint32_t> partition, device;
  };

  explicit ErrorLog(std::uint32_t capacity) : capacity_(capacity) {}

  // Counts it, and returns the row of its entry; nothing when there are no rows.
  std::optional<std::uint32_t> note(const ErrorNote& note, shm::Instant now);

  [[nodiscard]] const Entry& entry(std::uint32_t row) const { return entries_[row]; }

 private:
  [[nodiscard]] std::uint32_t row_of(const ErrorNote& note);

  std::uint32_t capacity_;
  std::vector<Entry> entries_;
};

}  // namespace vitrine::engine
