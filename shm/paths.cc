// SPDX-License-Identifier: Apache-2.0
#include "shm/paths.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace vitrine::shm {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kServiceDirectory = "/run/vitrine";
constexpr std::string_view kSharedMemoryDirectory = "/dev/shm";
constexpr std::string_view kPrefix = "vitrine.";

// Empty counts as unset, as for a shell's ${NAME:-}.
std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// systemd gives RUNTIME_DIRECTORY as a list separated by colons.
std::vector<std::string> runtime_directories() {
  std::vector<std::string> directories;
  const std::string list = environment("RUNTIME_DIRECTORY");
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(':', begin), list.size());
    if (end > begin) directories.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return directories;
}

}  // namespace

bool is_instance_name(std::string_view name) {
  constexpr std::size_t kLengthMax = 32;
  const bool is_flag = name.starts_with('-');
  return !name.empty() && !is_flag && name.size() <= kLengthMax &&
         std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
         });
}

fs::path segment_path_in(const fs::path& directory, std::string_view instance) {
  const std::string name(instance);
  return directory == kSharedMemoryDirectory ? directory / (std::string(kPrefix) + name)
                                             : directory / (name + ".segment");
}

std::string instance_part(const fs::path& segment) {
  std::string name = segment.filename().string();
  if (name.starts_with(kPrefix)) return name.substr(kPrefix.size());
  if (segment.extension() == ".segment") return segment.stem().string();
  return name;
}

fs::path lock_path_of(const fs::path& name) {
  fs::path lock = name;
  if (lock.extension() == ".segment" || lock.extension() == ".sock")
    return lock.replace_extension(".lock");
  return lock += ".lock";
}

fs::path dead_path_of(const fs::path& segment, std::string_view incarnation) {
  return segment.parent_path() /
         (std::string(kPrefix) + instance_part(segment) + "." + std::string(incarnation) + ".dead");
}

fs::path default_segment_path(std::string_view instance) {
  const auto directories = runtime_directories();
  const bool is_service = std::ranges::find(directories, kServiceDirectory) != directories.end();
  return segment_path_in(is_service ? kServiceDirectory : kSharedMemoryDirectory, instance);
}

fs::path default_socket_path(std::string_view instance) {
  const std::string name = std::string(instance) + ".sock";
  const auto directories = runtime_directories();
  if (!directories.empty()) return fs::path(directories.front()) / name;
  const std::string session = environment("XDG_RUNTIME_DIR");
  if (!session.empty()) return fs::path(session) / "vitrine" / name;
  const uid_t uid = geteuid();
  if (uid == 0) return fs::path(kServiceDirectory) / name;
  return fs::path("/tmp/vitrine-" + std::to_string(uid)) / name;
}

fs::path instance_lock_path(std::string_view instance) {
  return lock_path_of(default_socket_path(instance));
}

std::vector<fs::path> segment_candidates(std::string_view instance,
                                         const std::optional<fs::path>& explicit_path,
                                         const SegmentPlaces& places) {
  if (explicit_path) return {*explicit_path};
  const std::string from_environment = environment("VITRINE_SEGMENT");
  if (!from_environment.empty()) return {from_environment};
  std::vector<fs::path> candidates;
  for (const fs::path& directory : places.directories) {
    candidates.push_back(segment_path_in(directory, instance));
  }
  return candidates;
}

Result<fs::path> find_segment(std::string_view instance,
                              const std::optional<fs::path>& explicit_path,
                              const SegmentPlaces& places) {
  std::string looked_at;
  const auto candidates = segment_candidates(instance, explicit_path, places);
  for (const fs::path& candidate : candidates) {
    std::error_code error;
    // A directory that we may not enter counts as present: attaching to it says why.
    if (fs::symlink_status(candidate, error).type() != fs::file_type::not_found) return candidate;
    looked_at += (looked_at.empty() ? "" : ", ") + candidate.string();
  }
  // One that was named is not looked up, so the instance has no part in it.
  const bool is_named = explicit_path || !environment("VITRINE_SEGMENT").empty();
  if (is_named) return Error{ErrorKind::kAbsent, looked_at + ": no such segment"};
  return Error{ErrorKind::kAbsent,
               "no engine '" + std::string(instance) + "': no segment at " + looked_at};
}

}  // namespace vitrine::shm
