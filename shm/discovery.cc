// SPDX-License-Identifier: Apache-2.0
#include "shm/discovery.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "shm/incarnation.h"

namespace vitrine::shm {
namespace {

namespace fs = std::filesystem;

// Removes INCARNATION.dead, with its dot, from the end of a name; false when it is not there.
bool strip_dead_ending(std::string& name) {
  constexpr std::string_view kDead = ".dead";
  constexpr std::size_t kEndingSize = 1 + kIncarnationDigits + kDead.size();
  if (name.size() <= kEndingSize || !name.ends_with(kDead)) return false;
  const std::string ending = name.substr(name.size() - kEndingSize);
  const std::string digits = ending.substr(1, kIncarnationDigits);
  if (ending.front() != '.' || digits.find_first_not_of("0123456789abcdef") != digits.npos) {
    return false;
  }
  name.resize(name.size() - kEndingSize);
  return true;
}

// What the name of a directory's entry says, by the rules of shm/paths.h.
std::optional<SegmentName> parse(const fs::path& path) {
  constexpr std::string_view kPrefix = "vitrine.";
  std::string name = path.filename().string();
  const bool named_dead = strip_dead_ending(name);
  if (named_dead) {
    if (name.starts_with(kPrefix)) name.erase(0, kPrefix.size());
  } else {
    // The live name is the one place where the instance's engine publishes; an instance may hold
    // no dot, so locks and the rest do not match.
    const std::string stem =
        name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : path.stem().string();
    if (!is_instance_name(stem) || segment_path_in(path.parent_path(), stem) != path) return {};
    name = stem;
  }
  if (!is_instance_name(name)) return {};
  return SegmentName{name, path, named_dead};
}

}  // namespace

std::vector<SegmentName> list_segments(const SegmentPlaces& places) {
  std::vector<SegmentName> found;
  for (const fs::path& directory : places.directories) {
    std::error_code error;
    fs::directory_iterator entry(directory, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      if (auto name = parse(entry->path())) found.push_back(std::move(*name));
    }
  }
  std::ranges::stable_sort(found, [](const SegmentName& a, const SegmentName& b) {
    return std::tie(a.named_dead, a.instance) < std::tie(b.named_dead, b.instance);
  });
  return found;
}

}  // namespace vitrine::shm
