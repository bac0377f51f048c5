// SPDX-License-Identifier: Apache-2.0
// The file a partition's witness is read from: the caller's own, or one the engine took in and must
// not leave behind.
//
// Why: a witness is a secret. The engine's copy goes when its partition is over, on every path.
#pragma once

#include <filesystem>
#include <system_error>
#include <utility>

namespace vitrine::engine {

class WitnessFile {
 public:
  enum class Owner { kCaller, kEngine };

  WitnessFile() = default;
  WitnessFile(std::filesystem::path path, Owner owner) : path_(std::move(path)), owner_(owner) {}
  WitnessFile(WitnessFile&& other) noexcept
      : path_(std::exchange(other.path_, {})), owner_(other.owner_) {}
  WitnessFile& operator=(WitnessFile&& other) noexcept {
    if (this != &other) {
      remove_own();
      path_ = std::exchange(other.path_, {});
      owner_ = other.owner_;
    }
    return *this;
  }
  ~WitnessFile() { remove_own(); }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  void remove_own() noexcept {
    if (owner_ != Owner::kEngine || path_.empty()) return;
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  std::filesystem::path path_;
  Owner owner_ = Owner::kCaller;
};

}  // namespace vitrine::engine
