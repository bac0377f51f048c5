// SPDX-License-Identifier: Apache-2.0
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>

#include "tools/doctor_checks.h"
#include "tools/size_text.h"

namespace vitrine::tools {
namespace {

// A start with default capacities takes less.
constexpr std::uint64_t kSegmentBytes = std::uint64_t{16} << 20;

}  // namespace

PlaceFacts place_facts(const std::filesystem::path& path,
                       const std::vector<shm::SegmentName>& segments) {
  PlaceFacts place;
  place.path = path;
  place.has_segments = std::ranges::any_of(
      segments, [&](const shm::SegmentName& name) { return name.path.parent_path() == path; });
  struct stat found {};
  struct statfs system {};
  if (::stat(path.c_str(), &found) != 0 || ::statfs(path.c_str(), &system) != 0) return place;
  const auto block_bytes = static_cast<std::uint64_t>(system.f_bsize);
  place.is_there = S_ISDIR(found.st_mode);
  place.is_in_memory = system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC;
  place.free_bytes = system.f_bavail * block_bytes;
  place.total_bytes = system.f_blocks * block_bytes;
  place.mode = found.st_mode;
  return place;
}

Findings check_place(const PlaceFacts& place) {
  const std::string about = place.path.string();
  if (!place.is_there) return {};
  Findings found;
  if (!place.is_in_memory) {
    found.push_back({place.has_segments ? Severity::kWarning : Severity::kNote, about,
                     "is not a tmpfs: readers refuse segments there without --any-filesystem",
                     "mount -t tmpfs -o size=64m,mode=0750 tmpfs " + about});
  }
  if (place.total_bytes != 0 && place.free_bytes < kSegmentBytes) {
    found.push_back({Severity::kWarning, about,
                     size_text(place.free_bytes) + " of " + size_text(place.total_bytes) +
                         " free: a new engine may find no room for its segment",
                     "vitrine gc"});
  }
  constexpr mode_t kOthersWrite = S_IWOTH;
  if ((place.mode & kOthersWrite) != 0 && (place.mode & S_ISVTX) == 0) {
    found.push_back({Severity::kProblem, about,
                     "anybody may remove and replace what others put there: no sticky bit",
                     "chmod +t " + about});
  }
  if (found.empty()) {
    const std::string room = place.total_bytes == 0 ? "without a bound"
                                                    : size_text(place.free_bytes) + " of " +
                                                          size_text(place.total_bytes) + " free";
    found.push_back({Severity::kOk, about, "in memory, " + room, ""});
  }
  return found;
}

}  // namespace vitrine::tools
