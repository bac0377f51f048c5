// SPDX-License-Identifier: Apache-2.0
#include "engine/state.h"

#include <iterator>

#include "engine/dispatch.h"
#include "shm/clock.h"

namespace vitrine::engine {

Change::Change(EngineState& state, EngineModel& model)
    : state_(state),
      model_(model),
      now_{shm::monotonic_ns()},
      transaction_(state.writer_.begin()),
      publisher_(transaction_, now_) {}

void Change::set_life(shm::EngineLife life, std::uint32_t exit_code) {
  model_.life = life;
  model_.exit_code = exit_code;
  for (const Worker& worker : model_.workers) publisher_.worker_changed(worker, model_);
  state_.writer_.set_life(life, exit_code);
}

void Change::degrade(const DegradedReason& reason) {
  if (!model_.degraded.add(reason)) return;
  log("degraded", reason.text, JournalLevel::kWarn);
  note_error({shm::FailureClass::kNone, reason.text, 0, {}, {}});
  if (model_.life == shm::EngineLife::kReady) set_life(shm::EngineLife::kDegraded);
}

void Change::recover(const std::string& reason) {
  if (!model_.degraded.remove(reason)) return;
  log("no longer degraded", reason);
  if (model_.degraded.empty() && model_.life == shm::EngineLife::kDegraded)
    set_life(shm::EngineLife::kReady);
}

void Change::turn_reason(std::string& known, const std::string& reason) {
  if (reason == known) return;
  // The new one first: the engine is not well in between.
  if (!reason.empty()) degrade(reason);
  if (!known.empty()) recover(known);
  known = reason;
}

void Change::note_error(const ErrorNote& note) {
  const auto row = model_.errors.note(note, now_);
  if (row) publisher_.error_noted(*row, model_.errors.entry(*row));
}

void Change::log(std::string_view what, std::string detail, JournalLevel level) {
  JournalEntry entry;
  entry.level = level;
  entry.what = what;
  entry.detail = std::move(detail);
  log(std::move(entry));
}

void Change::log(const Job& job, std::string_view what, std::string detail, JournalLevel level) {
  JournalEntry entry;
  entry.level = level;
  entry.what = what;
  entry.job = job.id;
  entry.attempt = job.attempt;
  entry.detail = std::move(detail);
  log(std::move(entry));
}

void Change::log(const Partition& partition, std::string_view what, std::string detail,
                 JournalLevel level) {
  JournalEntry entry;
  entry.level = level;
  entry.what = what;
  entry.job = partition.job->id;
  entry.attempt = partition.attempt;
  entry.partition = partition.number;
  entry.worker = partition.worker;
  entry.device = partition.device;
  entry.stage = shm::word(partition.stage);
  entry.detail = std::move(detail);
  log(std::move(entry));
}

EngineState::AfterChange EngineState::finish(Change& change) {
  dispatch(change);
  change.publisher_.totals(change.model_);
  if (model_->wake_at_ns != alarm_at_ns_ || model_->stopping) alarm_moved_.notify_one();
  AfterChange after{std::move(change.disposed_), journal_ != nullptr && !change.entries_.empty()};
  if (!after.disposed.empty()) ++disposing_;
  if (after.has_entries) {
    std::move(change.entries_.begin(), change.entries_.end(), std::back_inserter(unwritten_));
  }
  return after;
}

void EngineState::release(std::unique_lock<std::mutex> lock, AfterChange& after) {
  lock.unlock();
  if (!after.disposed.empty()) {
    // The plan may have given their bytes to somebody who must not begin before.
    after.disposed.clear();
    lock.lock();
    --disposing_;
    lock.unlock();
  }
  changed_.notify_all();
  if (after.has_entries) write_journal();
}

bool EngineState::await_alarm() {
  using Clock = std::chrono::steady_clock;
  std::unique_lock lock(mutex_);
  while (!model_->stopping) {
    alarm_at_ns_ = model_->wake_at_ns;
    if (alarm_at_ns_ == 0) {
      alarm_moved_.wait(lock);
    } else if (alarm_at_ns_ <= shm::monotonic_ns()) {
      return true;
    } else {
      alarm_moved_.wait_until(lock, Clock::time_point(std::chrono::nanoseconds(alarm_at_ns_)));
    }
  }
  return false;
}

// Whoever is first writes what others have left so far, and they then find nothing left to do.
void EngineState::write_journal() {
  const std::lock_guard one_at_a_time(journal_mutex_);
  std::vector<JournalEntry> entries;
  {
    const std::lock_guard lock(mutex_);
    entries.swap(unwritten_);
  }
  for (const JournalEntry& entry : entries) journal_->write(entry);
}

}  // namespace vitrine::engine
