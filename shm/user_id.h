// SPDX-License-Identifier: Apache-2.0
// Users as people write them.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace vitrine::shm {

// The user with that name, else the uid with that number; none when it is neither.
std::optional<uid_t> find_user(const std::string& name_or_number);

}  // namespace vitrine::shm
