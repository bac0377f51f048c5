// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace vitrine::engine {

StartResult<void> prepare_runtime_folder(const std::filesystem::path& folder) {
  const auto refuse = [&](const std::string& rule) {
    return StartFailure{StartFailure::Kind::kUsage, "folder " + folder.string() + ": " + rule};
  };
  if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) {
    return refuse(std::string("cannot be made: ") + std::strerror(errno));
  }
  struct stat found {};
  if (::stat(folder.c_str(), &found) != 0) return refuse(std::strerror(errno));
  if (!S_ISDIR(found.st_mode)) return refuse("is not a folder");
  const bool is_trusted = found.st_uid == ::geteuid() || found.st_uid == 0;
  if (!is_trusted) {
    return refuse("belongs to another user: uid " + std::to_string(found.st_uid));
  }
  return {};
}

}  // namespace vitrine::engine
