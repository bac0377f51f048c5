// SPDX-License-Identifier: Apache-2.0
// Turns a page that vanished from under a mapping into an error instead of a dead process.
//
// Why      whoever may write a segment's file may also truncate it; the next load from a lost page
//          raises SIGBUS.
// Threads  any; a fault is handled on the thread that it happened on. The first call installs a
//          process-wide SIGBUS handler, which passes every fault that is not inside a guarded
//          range to the handler that was there before.
// Cost     tens of nanoseconds; no system call after the first use.
#pragma once

#include <cstddef>
#include <span>

namespace vitrine::shm {

// Runs body(context); false when it touched a lost page of `mapping`. Requires: body allocates
// nothing, owns nothing and takes no lock, because it is left without running destructors.
[[nodiscard]] bool run_guarded(std::span<const std::byte> mapping, void (*body)(void*),
                               void* context);

template <class Body>
[[nodiscard]] bool guarded(std::span<const std::byte> mapping, Body body) {
  return run_guarded(
      mapping, [](void* context) { (*static_cast<Body*>(context))(); }, &body);
}

}  // namespace vitrine::shm
