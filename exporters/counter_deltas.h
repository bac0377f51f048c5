// SPDX-License-Identifier: Apache-2.0
// What counters rose by since the last flush, for receivers that add up themselves.
//
// Layout   of the first incarnation seen, the first flush only remembers: its history was not ours
//          to send. Of every later incarnation, and of a counter that appears later, the whole
//          value counts. A value that fell gives nothing and is counted: the sum goes on from it.
// Units    the counters' own.
// Threads  one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace vitrine::exporters {

class CounterDeltas {
 public:
  using Incarnation = std::string;  // as shm::SegmentIdentity has it

  // Before the counters of each flush.
  void begin_flush(const Incarnation& incarnation);

  // 0 when there is nothing to send.
  std::uint64_t take(const std::string& counter, std::uint64_t value);

  std::uint64_t falls() const { return falls_; }

 private:
  enum class Attached { kNever, kNow, kBefore } attached_ = Attached::kNever;
  Incarnation incarnation_;
  std::map<std::string, std::uint64_t> last_;
  std::uint64_t falls_ = 0;
};

}  // namespace vitrine::exporters
