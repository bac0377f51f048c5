// SPDX-License-Identifier: Apache-2.0
#include "engine/thread_step.h"

#include "engine/last_words.h"
#include "engine/state.h"

namespace vitrine::engine {
namespace {

void begin(Change& change, ThreadRow row, std::string_view step, const Partition* in_hand) {
  ThreadState& thread = change.model().threads[row];
  thread.step = step;
  thread.since = change.now();
  ++thread.beats;
  thread.job = in_hand != nullptr ? in_hand->job->id : 0;
  thread.partition.reset();
  if (in_hand != nullptr) thread.partition = in_hand->number;
  change.publish().thread_changed(row, thread);
  WorkInHand work;
  work.job = {thread.job};
  if (in_hand != nullptr) {
    work.partition = shm::Index::of(in_hand->number);
    work.stage = in_hand->stage;
  }
  tell_work_in_hand(work);
}

}  // namespace

void take_step(Change& change, ThreadRow row, std::string_view step, const Partition* in_hand) {
  change.model().threads[row].limit_ns = change.model().facts.step_limit_ns;
  begin(change, row, step, in_hand);
}

void wait_for_work(Change& change, ThreadRow row) {
  change.model().threads[row].limit_ns = 0;
  begin(change, row, "waiting", nullptr);
}

}  // namespace vitrine::engine
