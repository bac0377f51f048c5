// SPDX-License-Identifier: Apache-2.0
#include "engine/state_folder.h"

#include <cstdlib>

namespace vitrine::engine {
namespace {

// Empty when the variable is not set.
std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

std::filesystem::path state_folder(const std::string& instance) {
  if (const std::string folders = variable("STATE_DIRECTORY"); !folders.empty()) {
    return folders.substr(0, folders.find(':'));
  }
  std::filesystem::path home = variable("XDG_STATE_HOME");
  if (home.empty()) {
    const std::filesystem::path user = variable("HOME");
    home = user.empty() ? "/var/lib" : user / ".local/state";
  }
  return home / "vitrine" / instance;
}

}  // namespace vitrine::engine
