// SPDX-License-Identifier: Apache-2.0
// Keeps the number of an instance's dead segments bounded.
//
// Why   in a directory that others can write, anybody can make files with such names: by names
//       and times alone they would push the engine's own black boxes out.
#pragma once

#include <filesystem>

namespace vitrine::shm {

// Removes all but 3 dead segments of the instance that publishes at `path`: engines that crashed
// stay before those that ended in order, then the newest. Only files of this user that are what
// their names say count, by the time in their headers, and only such are removed.
void remove_old_dead_segments(const std::filesystem::path& path);

}  // namespace vitrine::shm
