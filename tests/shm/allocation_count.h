// SPDX-License-Identifier: Apache-2.0
// Counts what the whole program allocates. It replaces the allocation functions, which cannot be
// inline, so exactly one file of a test program may include it.
#pragma once

#include <cstdlib>
#include <new>

namespace vitrine {

inline std::size_t allocations = 0;  // by operator new, so far

}  // namespace vitrine

[[gnu::noinline]] void* operator new(std::size_t size) {
  ++vitrine::allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++vitrine::allocations;
  return std::malloc(size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
