// SPDX-License-Identifier: Apache-2.0
// Groups of this host, as the configuration names them.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "engine/start_failure.h"

namespace vitrine::engine {

// The id of the group that `setting` names; none for an empty name. kUsage: there is no such group.
[[nodiscard]] StartResult<std::optional<gid_t>> find_group(const std::string& setting,
                                                           const std::string& name);

}  // namespace vitrine::engine
