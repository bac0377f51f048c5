// SPDX-License-Identifier: Apache-2.0
// The file that a recording grows in: whole chunks only, also on a full disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "shm/file_descriptor.h"
#include "tools/error.h"

namespace vitrine::tools {

class RecordingFile {
 public:
  // Creates `path`; a file that is there already is never overwritten (kUsage). A pipe or a device
  // gets the bytes as they come.
  static Result<RecordingFile> create(const std::filesystem::path& path);

  // Appends a chunk. What a full disk left of it is removed again, and the error (kFailed) says
  // how much is kept.
  Result<void> append(std::span<const std::byte> chunk);

  std::uint64_t size_bytes() const { return size_bytes_; }

 private:
  RecordingFile(shm::FileDescriptor file, std::filesystem::path path)
      : file_(std::move(file)), path_(std::move(path)) {}

  shm::FileDescriptor file_;
  std::filesystem::path path_;
  std::uint64_t size_bytes_ = 0;
};

}  // namespace vitrine::tools
