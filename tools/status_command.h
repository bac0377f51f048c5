// SPDX-License-Identifier: Apache-2.0
// What the commands that show one engine's state share: their flags, the look, the exit code.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "shm/discovery.h"
#include "tools/command.h"
#include "tools/view.h"

namespace vitrine::tools {

inline constexpr const char* kStatusExitCodes =
    "0 alive and well, 1 degraded or draining, 2 usage, 3 no such instance, 4 dead or exited, "
    "5 not readable, 6 hung";

struct StatusFlags {
  std::string file;  // a dead segment or a recording instead of an instance; empty: none
  bool json = false;
};
void add_status_flags(FlagSet& set, StatusFlags& flags);

// Where the flags say to look.
shm::Target target_of(const CommonFlags& common, const StatusFlags& status);

// The segments of this machine; of the instance alone when one was named.
std::vector<shm::SegmentName> segments_of_instance(const CommonFlags& common);

// The flags with an instance that was named by an argument, unless that is empty. kUsage: a flag
// names an engine too.
Result<CommonFlags> with_instance(CommonFlags common, const std::string& instance);

// The error, with the instances that are there when the one that was meant is not.
Error with_neighbours(Error error, const CommonFlags& common, const StatusFlags& status);

// One look: as JSON the tables named in `sections` (all when empty), else `text`, which is also
// shown of an engine that is gone. Errors: kNoInstance, kUnreadable when nothing could be read.
struct StatusScreen {
  std::vector<std::string> sections;
  std::function<std::string(const View&)> text;
};
Result<ExitCode> show_status(const CommandContext& context, const StatusFlags& flags,
                             const StatusScreen& screen);

}  // namespace vitrine::tools
