// SPDX-License-Identifier: Apache-2.0
#include "shm/dead_segments_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shm/file_descriptor.h"
#include "shm/incarnation.h"
#include "shm/layout.h"
#include "shm/paths.h"
#include "shm/words.h"

namespace vitrine::shm {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDeadKept = 3;

struct DeadSegment {
  bool said_goodbye;
  std::uint64_t created_unix_ns;
  fs::path path;
};

// Whether its engine ended in order; of a file that is too short, that is not known.
bool says_goodbye(const FileDescriptor& file) {
  constexpr auto kPlace = static_cast<off_t>(kHotLinesOffset + offsetof(HotLines, life));
  HotLines::Life life{};
  return ::pread(file.number(), &life, sizeof(life), kPlace) == sizeof(life) &&
         static_cast<std::uint32_t>(life.life) == static_cast<std::uint32_t>(EngineLife::kClosed);
}

// The incarnation that `name` tells, when it is what dead_path_of() makes of `path`.
std::optional<std::string> incarnation_in(const fs::path& name, const fs::path& path) {
  const std::string stem = name.stem().string();
  if (stem.size() <= kIncarnationDigits) return std::nullopt;
  std::string digits = stem.substr(stem.size() - kIncarnationDigits);
  const bool is_hex = digits.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!is_hex || dead_path_of(path, digits) != name) return std::nullopt;
  return digits;
}

// Nothing for a file that is not a segment of this user's engine with that incarnation.
std::optional<DeadSegment> examine(const fs::path& name, const std::string& incarnation) {
  constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
  const FileDescriptor file(::open(name.c_str(), kFlags));
  struct stat found {};
  if (!file.is_open() || ::fstat(file.number(), &found) != 0) return std::nullopt;
  const bool is_own = S_ISREG(found.st_mode) && found.st_nlink == 1 && found.st_uid == ::geteuid();
  if (!is_own) return std::nullopt;
  Header header{};
  const bool is_whole = ::pread(file.number(), &header, sizeof(header), 0) == sizeof(header);
  if (!is_whole || header.fixed.magic != kMagic) return std::nullopt;
  if (incarnation_text(header.incarnation) != incarnation) return std::nullopt;
  return DeadSegment{says_goodbye(file), header.created_unix_ns, name};
}

}  // namespace

void remove_old_dead_segments(const fs::path& path) {
  std::vector<DeadSegment> dead;
  std::error_code ignored;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  fs::directory_iterator entry(folder, ignored);
  for (; !ignored && entry != fs::directory_iterator(); entry.increment(ignored)) {
    const auto incarnation = incarnation_in(entry->path(), path);
    if (!incarnation) continue;
    if (auto segment = examine(entry->path(), *incarnation)) dead.push_back(std::move(*segment));
  }
  // Crashes first, then the newest: what ended in order has little to tell.
  std::ranges::sort(dead, [](const DeadSegment& a, const DeadSegment& b) {
    return a.said_goodbye != b.said_goodbye ? b.said_goodbye
                                            : a.created_unix_ns > b.created_unix_ns;
  });
  for (std::size_t i = kDeadKept; i < dead.size(); ++i) fs::remove(dead[i].path, ignored);
}

}  // namespace vitrine::shm
