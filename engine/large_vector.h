// SPDX-License-Identifier: Apache-2.0
// A vector for the prover's large arrays, on huge pages where the system grants them.
//
// Cost: on pages of 4 KiB the first touch of a key's memory takes a quarter of a short proof's
// time, and an MSM's random reads miss the address cache; with 2 MiB pages neither shows.
// Why: only whole huge pages inside the array are asked for, so no memory is added by rounding.
// Arrays of a huge page and more are mapped and unmapped, not taken from the allocator's heaps,
// where those up to 32 MiB stay resident after they are freed: keys come and go, and what the
// budget has back must be there.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
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
    if (bytes >= kHugePageBytes) return static_cast<T*>(map(bytes));
    void* memory = nullptr;
    if (::posix_memalign(&memory, kSmallAlignment, bytes) != 0) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes >= kHugePageBytes) {
      ::munmap(memory, whole_pages(bytes));
    } else {
      std::free(memory);
    }
  }

  friend bool operator==(const HugePageAllocator&, const HugePageAllocator&) { return true; }

 private:
  static constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;
  static constexpr std::size_t kPageBytes = 4096;
  static constexpr std::size_t kSmallAlignment = alignof(std::max_align_t);
  static_assert(alignof(T) <= kSmallAlignment);

  static constexpr std::size_t whole_pages(std::size_t bytes) {
    return (bytes + kPageBytes - 1) & ~(kPageBytes - 1);
  }

  // At the beginning of a huge page: what was mapped around it is unmapped again.
  static void* map(std::size_t bytes) {
    const std::size_t wanted = whole_pages(bytes);
    if (wanted > static_cast<std::size_t>(-1) - kHugePageBytes) throw std::bad_array_new_length();
    void* mapped = ::mmap(nullptr, wanted + kHugePageBytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    auto* const first = static_cast<char*>(mapped);
    const std::size_t before =
        (kHugePageBytes - reinterpret_cast<std::uintptr_t>(first) % kHugePageBytes) %
        kHugePageBytes;
    if (before > 0) ::munmap(first, before);
    if (before < kHugePageBytes) ::munmap(first + before + wanted, kHugePageBytes - before);
    // Refusal is no error: the memory is as good, only slower.
    ::madvise(first + before, bytes & ~(kHugePageBytes - 1), MADV_HUGEPAGE);
    return first + before;
  }
};

template <class T>
using LargeVector = std::vector<T, HugePageAllocator<T>>;

}  // namespace vitrine::engine
