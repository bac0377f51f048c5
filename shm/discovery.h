// SPDX-License-Identifier: Apache-2.0
// Which segments there are: every engine of this machine, alive or dead.
//
// Why   names are only names: whoever lists must attach to learn whether an engine is alive.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "shm/paths.h"

namespace vitrine::shm {

struct SegmentName {
  std::string instance;
  std::filesystem::path path;
  bool named_dead;  // the black box of an engine that was replaced: INSTANCE.INCARNATION.dead
};

// The segments in `places`: current names first, each group by instance and then by place; an
// instance that has a name in several places is listed once for each.
std::vector<SegmentName> list_segments(const SegmentPlaces& places = {});

}  // namespace vitrine::shm
