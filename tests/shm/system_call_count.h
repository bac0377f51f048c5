// SPDX-License-Identifier: Apache-2.0
// How many system calls a piece of code makes, counted by a tracer.
#pragma once

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>

namespace vitrine::shm {

inline constexpr long kMarker = SYS_getppid;  // a system call that no counted code would make

// The number of the system call that `child` has stopped at the entry of.
inline long entered_call(pid_t child) {
  __ptrace_syscall_info info{};
  ::ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof(info), &info);
  return static_cast<long>(info.entry.nr);
}

// System calls that a child makes in `body`, as its tracer counts them between two markers.
template <class Body>
long count_system_calls(Body body) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::raise(SIGSTOP);
    ::syscall(kMarker);
    body();
    ::syscall(kMarker);
    ::_exit(0);
  }
  int status = 0;
  int markers = 0;
  long calls = 0;
  bool is_entry = true;
  ::waitpid(child, &status, 0);
  ::ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  while (::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr) == 0 &&
         ::waitpid(child, &status, 0) == child && !WIFEXITED(status)) {
    if (!WIFSTOPPED(status) || WSTOPSIG(status) != (SIGTRAP | 0x80)) continue;
    if (is_entry) {
      const bool is_marker = entered_call(child) == kMarker;
      markers += is_marker;
      calls += !is_marker && markers == 1;
    }
    is_entry = !is_entry;
  }
  REQUIRE(markers == 2);
  return calls;
}

}  // namespace vitrine::shm
