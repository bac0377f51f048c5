// SPDX-License-Identifier: Apache-2.0
// A compressed archive made in memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/error.h"

namespace vitrine::tools {

struct ArchivedFile {
  std::string name;
  std::string bytes;
};

// The files in `folder` as a .tar.gz, mode 0600, of that time. Errors: kFailed.
Result<std::string> tar_gz(const std::string& folder, const std::vector<ArchivedFile>& files,
                           std::int64_t unix_seconds);

}  // namespace vitrine::tools
