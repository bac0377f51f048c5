// SPDX-License-Identifier: Apache-2.0
// A vector for the prover's large arrays, on huge pages where the system grants them.
//
// Cost: on pages of 4 KiB the first touch of a key's memory takes a quarter of a short proof's
// time, and an MSM's random reads miss the address cache; with 2 MiB pages neither shows.
// Why: only whole huge pages inside the array are asked for, so no memory is added by rounding.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

namespace vitrine::engine {

template <class T>
class HugePageAllocator {
 public:
  using value_type = T;

  HugePageAllocator() = default;
  template <class Other>
  HugePageAllocator(const HugePageAllocator<Other>&) {}

  [[nodiscard]] T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    const std::size_t bytes = count * sizeof(T);
    const bool is_large = bytes >= kHugePageBytes;
    void* memory = nullptr;
    if (::posix_memalign(&memory, is_large ? kHugePageBytes : kSmallAlignment, bytes) != 0) {
      throw std::bad_alloc();
    }
    // Refusal is no error: the memory is as good, only slower.
    if (is_large) ::madvise(memory, bytes & ~(kHugePageBytes - 1), MADV_HUGEPAGE);
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t) { std::free(memory); }

  friend bool operator==(const HugePageAllocator&, const HugePageAllocator&) { return true; }

 private:
  static constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;
  static constexpr std::size_t kSmallAlignment = alignof(std::max_align_t);
  static_assert(alignof(T) <= kSmallAlignment);
};

template <class T>
using LargeVector = std::vector<T, HugePageAllocator<T>>;

}  // namespace vitrine::engine
