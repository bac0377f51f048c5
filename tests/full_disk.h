// SPDX-License-Identifier: Apache-2.0
// A small file system of a test's own that can be filled and emptied.
#pragma once

#include <sched.h>
#include <sys/mount.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace vitrine {

class SmallDisk {
 public:
  // At an empty folder. Only this thread, those it starts and its children see it, and it goes with
  // the last of them.
  explicit SmallDisk(std::filesystem::path folder) : folder_(std::move(folder)) {
    is_there_ = ::unshare(CLONE_NEWNS) == 0 &&
                ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                ::mount("none", folder_.c_str(), "tmpfs", 0, "size=2m") == 0;
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    if (is_there_) ::umount2(folder_.c_str(), MNT_DETACH);
  }

  // False where only root may mount, and this is not root.
  [[nodiscard]] bool is_there() const { return is_there_; }
  void fill() const {
    std::ofstream ballast(folder_ / "ballast", std::ios::binary);
    const std::string page(4096, 'x');
    while (ballast.write(page.data(), 4096).flush()) {
    }
  }
  void make_room() const { std::filesystem::remove(folder_ / "ballast"); }

 private:
  std::filesystem::path folder_;
  bool is_there_ = false;
};

}  // namespace vitrine
