// SPDX-License-Identifier: Apache-2.0
// A forked child that is gone when the test ends, however it ends, and memory shared with it.
#pragma once

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <utility>

namespace vitrine::shm::testing {

class ChildProcess {
 public:
  // Runs `body` in a child; its result is the exit status.
  template <class Body>
  explicit ChildProcess(Body body) : pid_(::fork()) {
    if (pid_ < 0) throw std::runtime_error("fork");
    if (pid_ > 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::_exit(body());
  }
  ChildProcess(ChildProcess&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess() {
    if (pid_ <= 0) return;
    signal(SIGKILL);
    await_end();
  }

  void signal(int number) const { ::kill(pid_, number); }
  // Waits until a SIGSTOP has arrived; false when the child has ended instead.
  bool await_stop() const {
    int status = 0;
    return ::waitpid(pid_, &status, WUNTRACED) == pid_ && WIFSTOPPED(status);
  }
  // Its exit status, or 128 + the signal that ended it.
  int await_end() {
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t pid_;
};

// One T of zeros that children forked later share; it outlives them.
template <class T>
class SharedWithChildren {
 public:
  SharedWithChildren()
      : memory_(
            ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::runtime_error("mmap");
    new (memory_) T();
  }
  SharedWithChildren(const SharedWithChildren&) = delete;
  SharedWithChildren& operator=(const SharedWithChildren&) = delete;
  ~SharedWithChildren() { ::munmap(memory_, sizeof(T)); }

  T& operator*() const { return *static_cast<T*>(memory_); }
  T* operator->() const { return static_cast<T*>(memory_); }

 private:
  void* memory_;
};

}  // namespace vitrine::shm::testing
