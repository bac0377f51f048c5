// SPDX-License-Identifier: Apache-2.0
#include "engine/host_group.h"

#include <grp.h>

namespace vitrine::engine {

StartResult<std::optional<gid_t>> find_group(const std::string& setting, const std::string& name) {
  if (name.empty()) return std::optional<gid_t>{};
  const struct group* group = ::getgrnam(name.c_str());
  if (group == nullptr) {
    return StartFailure{StartFailure::Kind::kUsage,
                        setting + " = '" + name + "': there is no such group"};
  }
  return std::optional<gid_t>{group->gr_gid};
}

}  // namespace vitrine::engine
