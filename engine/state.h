// SPDX-License-Identifier: Apache-2.0
// EngineState: the one mutex of the engine, and everything that changes under it.
//
//   state.change([&](Change& change) { ... });          one step: model and status plane together
//   state.change_when(ready, [&](Change& change) ...);  the same, once ready(model) holds
//
// Threads  any. A change is short: no input or output, no computation, no waiting. What must happen
//          but takes time (log lines, freeing buffers, removing files) is handed to the change,
//          which does it after the mutex is released.
// Why      each change ends with a new plan (dispatch.h) and wakes everybody concerned, so a
// wake-up
//          cannot be lost: whoever waits looks at the model again after every change.
// Crash    a change is one transaction of the segment: readers see all of it or nothing.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/journal.h"
#include "engine/model.h"
#include "engine/publisher.h"
#include "shm/segment_writer.h"

namespace vitrine::engine {

class EngineState;

// One step from a consistent state to the next. Made by EngineState only.
class Change {
 public:
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;

  [[nodiscard]] EngineModel& model() { return model_; }
  [[nodiscard]] Publisher& publish() { return publisher_; }
  [[nodiscard]] shm::Instant now() const { return now_; }
  // Shown as the state of the engine from the end of this change on.
  void set_life(shm::EngineLife life, std::uint32_t exit_code = 0);
  // The engine works, but not as it should.
  void degrade(const DegradedReason& reason);
  // Takes one reason back, by its text.
  void recover(const std::string& reason);
  // `reason` takes the place of the one that `known` holds; empty: there is none.
  void turn_reason(std::string& known, const std::string& reason);

  // Counts an occurrence in the distinct error log.
  void note_error(const ErrorNote& note);

  // Done after the mutex is released; log lines of several changes in the order of the changes.
  void log(JournalEntry entry) { entries_.push_back(std::move(entry)); }
  void log(std::string_view what, std::string detail = {},
           JournalLevel level = JournalLevel::kInfo);
  void log(const Job& job, std::string_view what, std::string detail = {},
           JournalLevel level = JournalLevel::kInfo);
  void log(const Partition& partition, std::string_view what, std::string detail = {},
           JournalLevel level = JournalLevel::kInfo);
  template <class Thing>
  void dispose(Thing thing) {
    disposed_.push_back(std::make_shared<Thing>(std::move(thing)));
  }

 private:
  friend class EngineState;
  Change(EngineState& state, EngineModel& model);

  EngineState& state_;
  EngineModel& model_;
  shm::Instant now_;
  shm::Transaction transaction_;
  Publisher publisher_;
  std::vector<JournalEntry> entries_;
  std::vector<std::shared_ptr<void>> disposed_;
};

class EngineState {
 public:
  // `journal` may be null; it must outlive the state.
  EngineState(shm::SegmentWriter writer, std::unique_ptr<EngineModel> model, Journal* journal)
      : writer_(std::move(writer)), model_(std::move(model)), journal_(journal) {}

  template <class Body>
  auto change(Body&& body) {
    return perform(std::unique_lock(mutex_), body);
  }
  // Waits also until what former changes gave back is free: `ready` may count on those bytes.
  template <class Ready, class Body>
  auto change_when(Ready&& ready, Body&& body) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return disposing_ == 0 && ready(std::as_const(*model_)); });
    return perform(std::move(lock), body);
  }
  // Looks without changing anything.
  template <class Look>
  auto look(Look&& look) {
    const std::lock_guard lock(mutex_);
    return look(*model_);
  }
  // The same when nobody holds the mutex now; nothing otherwise.
  template <class Look>
  auto try_look(Look&& look) -> std::optional<std::invoke_result_t<Look&, EngineModel&>> {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return std::nullopt;
    return look(*model_);
  }
  // False when `ready` did not hold by `deadline`.
  template <class Ready>
  bool wait_until(std::chrono::steady_clock::time_point deadline, Ready&& ready) {
    std::unique_lock lock(mutex_);
    return changed_.wait_until(lock, deadline, [&] { return ready(std::as_const(*model_)); });
  }

  // Until EngineModel::wake_at_ns has come, however often it changes; false when the engine stops.
  [[nodiscard]] bool await_alarm();

  [[nodiscard]] shm::SegmentWriter& writer() { return writer_; }
  bool is_segment_damaged() { return writer_.is_damaged() || writer_.are_rows_damaged(mutex_); }
  // Like SegmentWriter::publish_again, for the thread that beats.
  shm::Result<void> publish_again() { return writer_.publish_again(mutex_); }

 private:
  friend class Change;

  // What is to be done once the mutex is released.
  struct AfterChange {
    std::vector<std::shared_ptr<void>> disposed;
    bool has_entries = false;
  };

  // Runs the body, then makes the plan, ends the transaction, releases and wakes.
  template <class Body>
  auto perform(std::unique_lock<std::mutex> lock, Body& body) {
    AfterChange after;
    using Answer = std::invoke_result_t<Body&, Change&>;
    if constexpr (std::is_void_v<Answer>) {
      {
        Change change(*this, *model_);
        body(change);
        after = finish(change);
      }
      release(std::move(lock), after);
    } else {
      std::optional<Answer> answer;
      {
        Change change(*this, *model_);
        answer.emplace(body(change));
        after = finish(change);
      }
      release(std::move(lock), after);
      return std::move(*answer);
    }
  }
  [[nodiscard]] AfterChange finish(Change& change);
  void release(std::unique_lock<std::mutex> lock, AfterChange& after);
  // Writes every entry of changes that have ended, in the order of the changes.
  void write_journal();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable alarm_moved_;  // notified under the mutex, for await_alarm() only
  std::uint64_t alarm_at_ns_ = 0;        // what await_alarm() waits for
  std::uint32_t disposing_ = 0;          // changes whose things are being freed
  shm::SegmentWriter writer_;
  std::unique_ptr<EngineModel> model_;
  std::vector<JournalEntry> unwritten_;  // in the order of the changes
  Journal* journal_;
  std::mutex journal_mutex_;  // whose holder writes; taken before mutex_, never inside it
};

}  // namespace vitrine::engine
