// SPDX-License-Identifier: Apache-2.0
// Shows a job's partitions moving, seen through the segment: a line drawn over itself on a
// terminal, a line for each change of a stage elsewhere.
//
// Why   the segment shows every stage without asking the engine anything.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "shm/attachment.h"
#include "tools/styled_text.h"
#include "tools/view.h"

namespace vitrine::tools {

// The job on one line of at most `columns`: state, count, time, and a mark for each partition, or
// a count for each stage where the marks would not fit.
std::string progress_line(const View& view, const shm::JobRecord& job, std::size_t columns);

// Remembers the stages it has told about.
class StageChanges {
 public:
  // A line for each partition of the job whose stage is another than at the last call.
  std::string lines(const View& view, const shm::JobRecord& job);

 private:
  std::map<std::uint32_t, shm::PartitionStage> told_;
};

// Shows the job on `descriptor` until it is final or cannot be seen any more (no segment, not in
// it, engine gone), or until `end_ns` of the monotonic clock.
void show_progress(const shm::Target& target, shm::Id job, int descriptor,
                   std::optional<std::uint64_t> end_ns);

}  // namespace vitrine::tools
