// SPDX-License-Identifier: Apache-2.0
#include "engine/host_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

namespace vitrine::engine {
namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

// A limit file holds one number, or "max".
std::uint64_t read_limit(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::uint64_t bytes = 0;
  return file >> bytes ? bytes : kNoLimit;
}

// The tightest limit from `group` up to the root of its hierarchy.
std::uint64_t tightest_limit(const std::filesystem::path& mount, std::filesystem::path group,
                             const char* file_name) {
  std::uint64_t tightest = read_limit(mount / file_name);
  for (; !group.empty(); group = group.parent_path()) {
    tightest = std::min(tightest, read_limit(mount / group / file_name));
  }
  return tightest;
}

std::uint64_t control_group_limit(const std::filesystem::path& root) {
  std::ifstream groups(root / "proc/self/cgroup");
  std::uint64_t tightest = kNoLimit;
  for (std::string line; std::getline(groups, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::filesystem::path group =
        std::filesystem::path(line.substr(second + 1)).relative_path();
    if (controllers.empty()) {
      tightest = std::min(tightest, tightest_limit(root / "sys/fs/cgroup", group, "memory.max"));
    } else if (controllers.find("memory") != std::string::npos) {
      tightest = std::min(
          tightest, tightest_limit(root / "sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
    }
  }
  return tightest;
}

std::uint64_t host_bytes(const std::filesystem::path& root) {
  std::ifstream info(root / "proc/meminfo");
  for (std::string line; std::getline(info, line);) {
    std::istringstream words(line);
    std::string name;
    std::uint64_t kibibytes = 0;
    if (words >> name >> kibibytes && name == "MemTotal:") return kibibytes * 1024;
  }
  return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(::sysconf(_SC_PAGE_SIZE));
}

}  // namespace

std::uint64_t memory_limit_bytes(const std::filesystem::path& root) {
  return std::min(host_bytes(root), control_group_limit(root));
}

std::uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t size_pages = 0;
  std::uint64_t resident_pages = 0;
  if (!(statm >> size_pages >> resident_pages)) return 0;
  return resident_pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGE_SIZE));
}

}  // namespace vitrine::engine
