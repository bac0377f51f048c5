// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "shm/liveness.h"
#include "shm/paths.h"
#include "tools/doctor_checks.h"

namespace vitrine::tools {
namespace {

namespace fs = std::filesystem;

// The name of the segment that a lock's name belongs to; empty for any other file.
fs::path segment_of_lock(const fs::path& lock) {
  if (lock.extension() != ".lock") return {};
  const std::string instance = shm::instance_part(lock.stem());
  if (!shm::is_instance_name(instance)) return {};
  const fs::path segment = shm::segment_path_in(lock.parent_path(), instance);
  return shm::lock_path_of(segment) == lock ? segment : fs::path();
}

// A lock that cannot be asked counts as held.
bool is_free(const fs::path& lock) {
  const shm::FileDescriptor file(
      ::open(lock.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  return file.is_open() && !shm::is_write_locked(file);
}

}  // namespace

Findings check_dead_segments(const std::vector<DeadSegment>& segments) {
  constexpr std::size_t kKept = 3;
  std::map<std::tuple<fs::path, std::string, uid_t>, std::size_t> dead;
  for (const auto& [name, owner] : segments) {
    ++dead[{name.path.parent_path(), name.instance, owner}];
  }
  Findings found;
  for (const auto& [where, count] : dead) {
    const auto& [folder, instance, owner] = where;
    const std::string text = std::to_string(count) + " dead segments in " + folder.string();
    if (count > kKept) {
      found.push_back({Severity::kWarning, instance,
                       text + ", more than the " + std::to_string(kKept) + " that engines keep",
                       "vitrine gc"});
    } else {
      found.push_back({Severity::kNote, instance, text, "vitrine gc"});
    }
  }
  return found;
}

std::vector<fs::path> stale_locks(const fs::path& folder) {
  std::vector<fs::path> locks;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const fs::path segment = segment_of_lock(entry->path());
    if (segment.empty()) continue;
    std::error_code ignored;
    const bool is_alone = fs::symlink_status(segment, ignored).type() == fs::file_type::not_found;
    if (is_alone && is_free(entry->path())) locks.push_back(entry->path());
  }
  return locks;
}

Findings check_stale_locks(const fs::path& folder, const std::vector<fs::path>& locks) {
  constexpr std::size_t kNamed = 16;
  if (locks.empty()) return {};
  std::string fix = "rm";
  for (std::size_t i = 0; i < std::min(kNamed, locks.size()); ++i) fix += " " + locks[i].string();
  return {{Severity::kNote, folder.string(),
           std::to_string(locks.size()) + " locks of former engines: no engine holds them, and no "
                                          "segment is beside them",
           fix}};
}

}  // namespace vitrine::tools
