// SPDX-License-Identifier: Apache-2.0
// FileDescriptor: owns a POSIX descriptor, and is a mappable object for Boost.Interprocess.
//
// Why   Boost's own file_mapping follows symbolic links and lets children inherit its descriptor,
//       so segments are opened with flags of our own and mapped from here.
#pragma once

#include <unistd.h>

#include <boost/interprocess/detail/os_file_functions.hpp>
#include <boost/interprocess/interprocess_fwd.hpp>
#include <utility>

namespace vitrine::shm {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~FileDescriptor() {
    if (number_ >= 0) ::close(number_);
  }

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }

  // What mapped_region asks of a mappable object.
  boost::interprocess::mapping_handle_t get_mapping_handle() const {
    return boost::interprocess::ipcdetail::mapping_handle_from_file_handle(number_);
  }

 private:
  int number_ = -1;
};

}  // namespace vitrine::shm
