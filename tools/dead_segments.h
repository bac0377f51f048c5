// SPDX-License-Identifier: Apache-2.0
// Finds and removes the segments of engines that are gone.
//
// Why   a name that is being given to a new engine must not be removed under it: a current name
//       goes only while its instance's lock is held here, so that no engine can start meanwhile.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "shm/discovery.h"
#include "shm/segment_access.h"

namespace vitrine::tools {

enum class Owners : std::uint8_t { kSelf, kAll };  // whose segments may go; kAll takes root
enum class Removal : std::uint8_t { kPretend, kRemove };

struct CollectedSegment {
  enum class Outcome : std::uint8_t { kRemoved, kKept, kFailed };
  std::filesystem::path path;
  Outcome outcome;
  std::string reason;  // why it went, stayed or could not go
};

// Looks at each of the segments (shm::list_segments finds them) and touches nothing else but the
// lock of one that it removes. What is not a readable segment is kept. With kPretend, kRemoved
// means that it would have been. The owner of `options` is not asked for.
std::vector<CollectedSegment> collect_dead_segments(const std::vector<shm::SegmentName>& names,
                                                    Owners owners, Removal removal,
                                                    const shm::AttachOptions& options = {});

}  // namespace vitrine::tools
