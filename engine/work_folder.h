// SPDX-License-Identifier: Apache-2.0
// WorkFolder: a folder for one run of a command, gone with everything in it when it goes away.
//
// Layout: mode 0700, inside the spool.
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "engine/error.h"

namespace vitrine::engine {

class WorkFolder {
 public:
  // Errors: kOutOfMemory; clients read the text, so it names no file.
  [[nodiscard]] static Result<std::unique_ptr<WorkFolder>> make(const std::filesystem::path& path);
  explicit WorkFolder(std::filesystem::path path) : path_(std::move(path)) {}
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  ~WorkFolder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  // Makes `name` in it, of mode 0600, from a file of at most `bytes_max` bytes. Errors: kBadInput
  // for a file that cannot be read, is none or is longer; kOutOfMemory for one that cannot be made.
  // They name no file.
  [[nodiscard]] Result<std::filesystem::path> copy_in(const std::filesystem::path& from,
                                                      const char* name,
                                                      std::uint64_t bytes_max) const;

 private:
  std::filesystem::path path_;
};

}  // namespace vitrine::engine
