// SPDX-License-Identifier: Apache-2.0
#include "engine/thread_step.h"

#include <algorithm>

#include "engine/last_words.h"
#include "engine/state.h"

namespace vitrine::engine {
namespace {

void show(Change& change, ThreadRow row, std::string_view step, const Partition* in_hand) {
  ThreadState& thread = change.model().threads[row];
  thread.step = step;
  thread.since = change.now();
  ++thread.beats;
  thread.job = in_hand != nullptr ? in_hand->job->id : 0;
  thread.partition.reset();
  if (in_hand != nullptr) thread.partition = in_hand->number;
  change.publish().thread_changed(row, thread);
}

void tell_handler(const Partition* in_hand) {
  WorkInHand work;
  if (in_hand != nullptr) {
    work.job = {in_hand->job->id};
    work.partition = shm::Index::of(in_hand->number);
    work.stage = in_hand->stage;
  }
  tell_work_in_hand(work);
}

}  // namespace

void take_step(Change& change, ThreadRow row, std::string_view step, const Partition* in_hand) {
  change.model().threads[row].limit_ns = change.model().facts.step_limit_ns;
  show(change, row, step, in_hand);
  tell_handler(in_hand);
}

void take_limited_step(Change& change, ThreadRow row, std::string_view step,
                       const LimitedWork& work) {
  constexpr std::uint64_t kToEndItNs = 60'000'000'000;
  const std::uint64_t general_ns = change.model().facts.step_limit_ns;
  change.model().threads[row].limit_ns =
      general_ns == 0 ? 0 : std::max(general_ns, work.own_limit_ns + kToEndItNs);
  show(change, row, step, work.in_hand);
  tell_handler(work.in_hand);
}

void wait_for_work(Change& change, ThreadRow row) {
  change.model().threads[row].limit_ns = 0;
  show(change, row, "waiting", nullptr);
  tell_handler(nullptr);
}

void give_step(Change& change, ThreadRow row, std::string_view step) {
  change.model().threads[row].limit_ns = change.model().facts.step_limit_ns;
  show(change, row, step, nullptr);
}

void take_back_step(Change& change, ThreadRow row) {
  change.model().threads[row].limit_ns = 0;
  show(change, row, "waiting", nullptr);
}

}  // namespace vitrine::engine
