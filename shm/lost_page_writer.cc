// SPDX-License-Identifier: Apache-2.0
#include "shm/lost_page_writer.h"

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <utility>

#include "shm/layout.h"

namespace vitrine::shm {
namespace {

// An open place has no end. Begin is stored before the end that makes it valid.
struct GuardedRange {
  std::atomic<std::uintptr_t> begin;
  std::atomic<std::uintptr_t> end;
};

constinit std::array<GuardedRange, LostPageGuard::kMax> ranges{};
std::mutex places_mutex;
struct sigaction previous_action;

bool is_guarded(std::uintptr_t address) {
  for (const GuardedRange& range : ranges) {
    // Pairs with the constructor's store(release) of end.
    const std::uintptr_t end = range.end.load(std::memory_order_acquire);
    if (address < end && address >= range.begin.load(std::memory_order_relaxed)) return true;
  }
  return false;
}

void on_bus_error(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  if (is_guarded(address)) {
    void* page = reinterpret_cast<void*>(address / kPageBytes * kPageBytes);
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    if (::mmap(page, kPageBytes, PROT_READ | PROT_WRITE, flags, -1, 0) == page) return;
  }
  if ((previous_action.sa_flags & SA_SIGINFO) != 0) {
    previous_action.sa_sigaction(signal, info, context);
  } else if (previous_action.sa_handler != SIG_DFL && previous_action.sa_handler != SIG_IGN) {
    previous_action.sa_handler(signal);
  } else {
    std::signal(signal, SIG_DFL);  // the instruction runs again and ends the process with a core
  }
}

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

LostPageGuard::LostPageGuard(std::span<std::byte> mapping) {
  install_handler();
  const auto begin = reinterpret_cast<std::uintptr_t>(mapping.data());
  const std::lock_guard lock(places_mutex);
  for (std::size_t place = 0; place < kMax; ++place) {
    if (ranges[place].end.load(std::memory_order_relaxed) != 0) continue;
    ranges[place].begin.store(begin, std::memory_order_relaxed);
    ranges[place].end.store(begin + mapping.size(), std::memory_order_release);
    place_ = place;
    return;
  }
}

LostPageGuard::LostPageGuard(LostPageGuard&& other) noexcept
    : place_(std::exchange(other.place_, kMax)) {}

LostPageGuard& LostPageGuard::operator=(LostPageGuard&& other) noexcept {
  std::swap(place_, other.place_);
  return *this;
}

LostPageGuard::~LostPageGuard() {
  if (place_ == kMax) return;
  const std::lock_guard lock(places_mutex);
  ranges[place_].end.store(0, std::memory_order_relaxed);
}

}  // namespace vitrine::shm
