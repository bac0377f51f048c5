// SPDX-License-Identifier: Apache-2.0
// Journal: where the engine says, in words, what happened. A program decides what becomes of it.
//
// Threads: write() is called from any thread, one call at a time, never under the state mutex.
// Why: the library itself never prints; and a slow log must not hold the state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vitrine::engine {

enum class JournalLevel { kDebug, kInfo, kWarn, kError };

struct JournalEntry {
  JournalLevel level = JournalLevel::kInfo;
  std::string_view what;  // a fixed phrase: "job received"
  std::uint64_t job = 0;  // zero: not about a job
  std::uint32_t attempt = 0;
  std::optional<std::uint32_t> partition, worker, device;
  std::string_view stage;
  std::string detail;
};

class Journal {
 public:
  virtual ~Journal() = default;
  virtual void write(const JournalEntry& entry) = 0;
};

}  // namespace vitrine::engine
