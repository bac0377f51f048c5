// SPDX-License-Identifier: Apache-2.0
#include "engine/heartbeat.h"

#include <chrono>

#include "engine/device_health.h"
#include "engine/expected_ends.h"
#include "engine/host_memory.h"
#include "engine/last_words.h"

namespace vitrine::engine {
namespace {

constexpr auto kInterval = std::chrono::milliseconds(100);
constexpr unsigned kBeatsPerSample = 10;
constexpr const char* kNameLost = "the segment's name was removed";
constexpr const char* kDamaged = "the segment's file was truncated or overwritten";

}  // namespace

Heartbeat::Heartbeat(EngineState& state) : state_(state), thread_([this] { run(); }) {}

void Heartbeat::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stopped_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Heartbeat::run() {
  name_this_thread("heartbeat");
  std::unique_lock lock(mutex_);
  for (unsigned beats = 0; !stopping_; ++beats) {
    state_.writer().beat();
    beats_.fetch_add(1, std::memory_order_relaxed);
    if (beats % kBeatsPerSample == 0) {
      lock.unlock();
      sample();
      lock.lock();
    }
    stopped_.wait_for(lock, kInterval, [this] { return stopping_; });
  }
}

void Heartbeat::sample() {
  const std::uint64_t resident = resident_bytes();
  const bool is_name_lost = state_.writer().is_name_lost();
  const bool is_damaged = state_.is_segment_damaged();
  state_.change([&](Change& change) {
    change.model().process_resident_bytes = resident;
    if (is_name_lost) change.degrade(kNameLost);
    if (is_damaged) change.degrade(kDamaged);
    lose_hung_devices(change);
    change.publish().history(change.model());
  });
  tell_expected_ends(state_);
  if (is_name_lost || is_damaged) publish_again();
}

void Heartbeat::publish_again() {
  const auto published = state_.publish_again();
  state_.change([&](Change& change) {
    if (published) {
      not_published_again_.clear();
      change.recover(kNameLost);
      change.recover(kDamaged);
      return;
    }
    if (published.error().text == not_published_again_) return;
    not_published_again_ = published.error().text;
    change.log("segment not published again", not_published_again_, JournalLevel::kWarn);
    change.note_error({shm::FailureClass::kNone, not_published_again_, 0, {}, {}});
  });
}

}  // namespace vitrine::engine
