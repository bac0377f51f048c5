// SPDX-License-Identifier: Apache-2.0
#include "tools/external_command.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace vitrine::tools {
namespace {

// A name with a slash would run a program from anywhere.
bool is_command_name(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

}  // namespace

Error run_external_command(const ExternalCommand& command) {
  const std::string unknown = "no command '" + command.name + "'; 'vitrine --help' lists them";
  if (!is_command_name(command.name)) return {ExitCode::kUsage, unknown};
  std::string program = "vitrine-" + command.name;
  std::vector<std::string> arguments = command.arguments;
  std::vector<char*> passed = {program.data()};
  for (std::string& argument : arguments) passed.push_back(argument.data());
  passed.push_back(nullptr);
  std::error_code no_link;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", no_link);
  if (!no_link) {
    execv((self.parent_path() / program).c_str(), passed.data());
    if (errno != ENOENT) return {ExitCode::kUsage, program + ": " + std::strerror(errno)};
  }
  execvp(program.c_str(), passed.data());
  if (errno != ENOENT) return {ExitCode::kUsage, program + ": " + std::strerror(errno)};
  return {ExitCode::kUsage, unknown};
}

}  // namespace vitrine::tools
