// SPDX-License-Identifier: Apache-2.0
// Files that are there whole or not at all.
#pragma once

#include <filesystem>
#include <string_view>

#include "tools/error.h"

namespace vitrine::tools {

// Writes beside `path` and renames, so that no reader sees a part and a full disk loses nothing
// that was there; devices and pipes get the text directly (shm/write_target.h). Errors: kFailed,
// naming the path and the reason.
Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view text);

}  // namespace vitrine::tools
