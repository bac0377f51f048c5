// SPDX-License-Identifier: Apache-2.0
// What tells a file from another one that took its place, or from itself before it was written to.
//
// Why: looking costs nothing, so every reload can look at every key.
#pragma once

#include <cstdint>
#include <filesystem>

namespace vitrine::engine {

struct FileStamp {
  std::uint64_t device = 0, inode = 0, size_bytes = 0;
  std::int64_t written_ns = 0;  // its bytes
  std::int64_t touched_ns = 0;  // its bytes, name, owner or rights; cannot be set

  // All zero when there is no such file.
  [[nodiscard]] static FileStamp of(const std::filesystem::path& path);
  [[nodiscard]] static FileStamp of(int descriptor);

  // False of a file with other bytes, unless somebody took pains to hide it.
  [[nodiscard]] bool has_bytes_of(const FileStamp& other) const {
    return device == other.device && inode == other.inode && size_bytes == other.size_bytes &&
           written_ns == other.written_ns;
  }
  bool operator==(const FileStamp&) const = default;
};

}  // namespace vitrine::engine
