// SPDX-License-Identifier: Apache-2.0
// LostPageGuard: lets a writer go on when pages vanish from under its mapping.
//
// Why      whoever may write a segment's file may also truncate it; the next store would end the
//          engine with SIGBUS, and a status write must not.
// Threads  any; a lost page is replaced on the thread that touched it. The first guard installs a
//          process-wide SIGBUS handler, which passes every other fault on.
// Cost     none until a page is lost.
#pragma once

#include <cstddef>
#include <span>

namespace vitrine::shm {

// While it lives, a lost page of `mapping` becomes private memory of zeros at its first touch. At
// most kMax at once in a process; a further one guards nothing.
class LostPageGuard {
 public:
  static constexpr std::size_t kMax = 64;

  LostPageGuard() = default;
  explicit LostPageGuard(std::span<std::byte> mapping);
  LostPageGuard(LostPageGuard&& other) noexcept;
  LostPageGuard& operator=(LostPageGuard&& other) noexcept;
  ~LostPageGuard();

 private:
  std::size_t place_ = kMax;
};

}  // namespace vitrine::shm
