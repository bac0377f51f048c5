// SPDX-License-Identifier: Apache-2.0
#include "engine/last_words.h"

#include <sys/prctl.h>

#include <array>
#include <atomic>
#include <csignal>

#include "shm/clock.h"

namespace vitrine::engine {
namespace {

constexpr std::array kFatalSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

thread_local WorkInHand work_in_hand;
std::atomic<shm::SegmentWriter*> place{nullptr};

// Only single stores and system calls that a handler may make.
void on_fatal_signal(int signal, siginfo_t* info, void*) {
  // Whoever is first speaks; threads that fall after it, and the writer's own fall, do not.
  if (shm::SegmentWriter* const writer = place.exchange(nullptr)) {
    shm::LastWords words;
    words.signal = static_cast<std::uint32_t>(signal);
    words.signal_code = static_cast<std::uint32_t>(info->si_code);
    words.time = {shm::monotonic_ns()};
    char name[16] = {};
    if (::prctl(PR_GET_NAME, name) == 0) words.thread = std::string_view(name);
    words.job = work_in_hand.job;
    words.partition = work_in_hand.partition;
    words.stage = work_in_hand.stage;
    writer->write_last_words(words);
    writer->note_signal(signal);
  }
  // Let it end the process as it would have: the faulting instruction, or abort(), raises it again.
  ::signal(signal, SIG_DFL);
  if (info->si_code <= 0) ::raise(signal);
}

}  // namespace

void name_this_thread(const std::string& name) { ::prctl(PR_SET_NAME, name.c_str()); }

void tell_work_in_hand(const WorkInHand& work) noexcept { work_in_hand = work; }

void install_last_words() {
  struct sigaction action {};
  action.sa_sigaction = on_fatal_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (const int signal : kFatalSignals) ::sigaction(signal, &action, nullptr);
}

LastWordsPlace::LastWordsPlace(shm::SegmentWriter& writer) : writer_(writer) {
  shm::SegmentWriter* none = nullptr;
  place.compare_exchange_strong(none, &writer);
}

LastWordsPlace::~LastWordsPlace() {
  shm::SegmentWriter* own = &writer_;
  place.compare_exchange_strong(own, nullptr);
}

}  // namespace vitrine::engine
