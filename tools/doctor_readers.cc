// SPDX-License-Identifier: Apache-2.0
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <sstream>

#include "tools/bounded_file.h"
#include "tools/doctor_checks.h"

namespace vitrine::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMapsBytesMax = std::size_t{4} << 20;

std::optional<std::uint64_t> pid_of(const fs::path& folder) {
  const std::string name = folder.filename().string();
  std::uint64_t pid = 0;
  const auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  if (error != std::errc{} || rest != name.data() + name.size()) return std::nullopt;
  return pid;
}

std::string name_of(const fs::path& process) {
  std::string name = read_bounded(process / "comm", 64).value_or("");
  if (!name.empty() && name.back() == '\n') name.pop_back();
  return name;
}

bool reads(const fs::path& process, const FileFacts& file) {
  const auto mapped = mapped_files(read_bounded(process / "maps", kMapsBytesMax).value_or(""));
  const auto is_file = [&](const MappedFile& map) {
    return map.inode == file.inode && map.device == file.device;
  };
  return std::ranges::any_of(mapped, is_file) &&
         std::ranges::none_of(
             mapped, [&](const MappedFile& map) { return is_file(map) && map.is_writable; });
}

}  // namespace

// A line is: addresses, permissions, offset, device as MAJOR:MINOR, inode, path.
std::vector<MappedFile> mapped_files(const std::string& maps_text) {
  std::vector<MappedFile> mapped;
  std::istringstream lines(maps_text);
  for (std::string line; std::getline(lines, line);) {
    char permissions[5] = {};
    unsigned major_number = 0;
    unsigned minor_number = 0;
    unsigned long inode = 0;
    const int found = std::sscanf(line.c_str(), "%*s %4s %*s %x:%x %lu", permissions, &major_number,
                                  &minor_number, &inode);
    if (found != 4 || inode == 0) continue;
    mapped.push_back({makedev(major_number, minor_number), inode, permissions[1] == 'w'});
  }
  return mapped;
}

std::vector<SegmentReaderProcess> readers_of(const FileFacts& file) {
  std::vector<SegmentReaderProcess> readers;
  std::error_code error;
  fs::directory_iterator entry("/proc", error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const auto pid = pid_of(entry->path());
    if (!pid || *pid == static_cast<std::uint64_t>(::getpid())) continue;
    if (reads(entry->path(), file)) readers.push_back({*pid, name_of(entry->path())});
  }
  return readers;
}

Findings note_readers(const std::string& about, const std::vector<SegmentReaderProcess>& readers) {
  constexpr std::size_t kNamed = 8;
  if (readers.empty()) return {};
  std::string text = "read by ";
  for (std::size_t i = 0; i < std::min(kNamed, readers.size()); ++i) {
    text += (i == 0 ? "" : ", ") + readers[i].name + " (" + std::to_string(readers[i].pid) + ")";
  }
  if (readers.size() > kNamed) text += ", and " + std::to_string(readers.size() - kNamed) + " more";
  return {{Severity::kOk, about, text, ""}};
}

}  // namespace vitrine::tools
