// SPDX-License-Identifier: Apache-2.0
#include "shm/bus_error_guard.h"

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <mutex>

namespace vitrine::shm {
namespace {

struct Frame {
  const std::byte* begin;
  const std::byte* end;
  sigjmp_buf resume;
};

// Initial-exec: a signal handler must not make the thread's variables come into being.
__attribute__((tls_model("initial-exec"))) constinit thread_local Frame* guarded_frame = nullptr;

struct sigaction previous_action;

void pass_on(int signal, siginfo_t* info, void* context) {
  if ((previous_action.sa_flags & SA_SIGINFO) != 0) {
    previous_action.sa_sigaction(signal, info, context);
  } else if (previous_action.sa_handler != SIG_DFL && previous_action.sa_handler != SIG_IGN) {
    previous_action.sa_handler(signal);
  } else {
    // The faulting instruction runs again and ends the process with a proper core.
    std::signal(signal, SIG_DFL);
  }
}

void on_bus_error(int signal, siginfo_t* info, void* context) {
  Frame* frame = guarded_frame;
  const auto* address = static_cast<const std::byte*>(info->si_addr);
  if (frame != nullptr && address >= frame->begin && address < frame->end) {
    siglongjmp(frame->resume, 1);
  }
  pass_on(signal, info, context);
}

// Saving the signal mask costs a system call in every guarded copy. SA_NODEFER makes it needless,
// but ThreadSanitizer blocks every signal while it runs a handler.
#if defined(__SANITIZE_THREAD__)
constexpr int kSaveMask = 1;
#else
constexpr int kSaveMask = 0;
#endif

void install_handler() {
  static std::once_flag installed;
  std::call_once(installed, [] {
    struct sigaction action {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &previous_action);
  });
}

}  // namespace

bool run_guarded(std::span<const std::byte> mapping, void (*body)(void*), void* context) {
  install_handler();
  Frame frame;
  frame.begin = mapping.data();
  frame.end = mapping.data() + mapping.size();
  Frame* volatile outer = guarded_frame;
  if (sigsetjmp(frame.resume, kSaveMask) != 0) {
    guarded_frame = outer;
    return false;
  }
  guarded_frame = &frame;
  std::atomic_signal_fence(std::memory_order_seq_cst);  // the handler sees it before the body
  body(context);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  guarded_frame = outer;
  return true;
}

}  // namespace vitrine::shm
