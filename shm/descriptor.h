// SPDX-License-Identifier: Apache-2.0
// Owns a file descriptor, and lends it to Boost.Interprocess' mapped_region.
//
// Why   Boost's own file_mapping and shared_memory_object follow links and leave their descriptors
//       to child processes, so segments are opened with flags of our own and mapped from here.
#pragma once

#include <unistd.h>

#include <boost/interprocess/detail/os_file_functions.hpp>
#include <boost/interprocess/interprocess_fwd.hpp>
#include <utility>

namespace vitrine::shm {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  int get() const { return number_; }
  bool is_open() const { return number_ >= 0; }

  // What mapped_region asks of the thing that it maps.
  boost::interprocess::mapping_handle_t get_mapping_handle() const {
    return boost::interprocess::ipcdetail::mapping_handle_from_file_handle(number_);
  }

 private:
  int number_ = -1;
};

}  // namespace vitrine::shm
