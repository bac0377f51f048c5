// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "shm/discovery.h"
#include "tools/doctor_checks.h"

namespace vitrine::tools {
namespace {

namespace fs = std::filesystem;

// A folder reached without a link: one of another namespace would be followed in ours.
bool is_plain_folder(const fs::path& root, const fs::path& folder) {
  fs::path path = root;
  for (const fs::path& part : folder) {
    path /= part;
    std::error_code error;
    if (fs::symlink_status(path, error).type() != fs::file_type::directory) return false;
  }
  return true;
}

// What is called as in /dev/shm, whatever the folder is called here.
void add_shared_memory(const fs::path& folder, std::vector<shm::SegmentName>& segments) {
  constexpr std::string_view kPrefix = "vitrine.";
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(kPrefix)) continue;
    const std::string instance = name.substr(kPrefix.size());
    if (shm::is_instance_name(instance)) segments.push_back({instance, entry->path(), false});
  }
}

// One process for each mount namespace that is not ours; only root sees those of others.
std::vector<fs::path> foreign_roots() {
  constexpr std::size_t kRootsMax = 64;
  std::error_code error;
  std::set<fs::path> seen = {fs::read_symlink("/proc/self/ns/mnt", error)};
  std::vector<fs::path> roots;
  fs::directory_iterator entry("/proc", error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!std::ranges::all_of(name, [](unsigned char c) { return std::isdigit(c) != 0; })) continue;
    std::error_code unseen;
    const fs::path space = fs::read_symlink(entry->path() / "ns/mnt", unseen);
    if (unseen || !seen.insert(space).second) continue;
    roots.push_back(entry->path() / "root");
    if (roots.size() == kRootsMax) break;
  }
  return roots;
}

}  // namespace

ForeignPlaces foreign_places() {
  // Namespaces share folders with each other and with us: each is looked at once.
  std::set<std::pair<dev_t, ino_t>> seen;
  const auto is_new = [&seen](const fs::path& folder) {
    struct stat found {};
    return ::stat(folder.c_str(), &found) == 0 && seen.insert({found.st_dev, found.st_ino}).second;
  };
  for (const fs::path& folder : shm::SegmentPlaces().directories) is_new(folder);
  ForeignPlaces places;
  for (const fs::path& root : foreign_roots()) {
    for (const fs::path& own : shm::SegmentPlaces().directories) {
      const fs::path folder = root / own.relative_path();
      if (!is_plain_folder(root, own.relative_path()) || !is_new(folder)) continue;
      places.folders.push_back(folder);
      add_shared_memory(folder, places.segments);
      for (shm::SegmentName& name : shm::list_segments({{folder}})) {
        places.segments.push_back(std::move(name));
      }
    }
  }
  return places;
}

}  // namespace vitrine::tools
