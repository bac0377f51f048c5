// SPDX-License-Identifier: Apache-2.0
// A private directory in shared memory, gone with its owner.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

namespace vitrine::tests {

class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string name = "/dev/shm/vitrine-tools-XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~ScratchDirectory() { std::filesystem::remove_all(path_); }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace vitrine::tests
