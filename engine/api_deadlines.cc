// SPDX-License-Identifier: Apache-2.0
#include "engine/api_deadlines.h"

#include <sys/socket.h>

#include <algorithm>
#include <utility>

namespace vitrine::engine {
namespace {

constexpr std::chrono::milliseconds kLookForLateEvery{250};

}  // namespace

ApiDeadlines::ApiDeadlines(const Limits& limits, std::string farewell, Tell tell)
    : limits_(limits),
      farewell_(std::move(farewell)),
      tell_(std::move(tell)),
      thread_([this] { run(); }) {}

ApiDeadlines::~ApiDeadlines() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void ApiDeadlines::opened(int descriptor) {
  const std::lock_guard lock(mutex_);
  if (live() >= limits_.connections) make_room();
  await_head(descriptor);
  changed_.notify_all();
}

ApiDeadlines::Room ApiDeadlines::head_arrived(int descriptor) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[descriptor];
  if (entry.phase == Phase::kShutDown) return Room::kGone;
  entry = Entry{Phase::kRequest, entry.since, Clock::time_point::max()};
  return live() <= limits_.connections ? Room::kYes : Room::kNone;
}

void ApiDeadlines::await_client(int descriptor, Clock::time_point deadline) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(descriptor);
  if (found != entries_.end()) found->second.deadline = deadline;
}

void ApiDeadlines::answered(int descriptor) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(descriptor);
  if (found != entries_.end() && found->second.phase == Phase::kRequest) await_head(descriptor);
}

void ApiDeadlines::closed(int descriptor) {
  const std::lock_guard lock(mutex_);
  entries_.erase(descriptor);
}

void ApiDeadlines::count_refusal() {
  const std::lock_guard lock(mutex_);
  ++crowding_.refused;
}

void ApiDeadlines::await_head(int descriptor) {
  const Clock::time_point now = Clock::now();
  entries_[descriptor] = Entry{Phase::kHead, now, now + limits_.head_patience};
}

std::size_t ApiDeadlines::live() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      entries_, [](const auto& entry) { return entry.second.phase != Phase::kShutDown; }));
}

void ApiDeadlines::make_room() {
  auto longest = entries_.end();
  for (auto at = entries_.begin(); at != entries_.end(); ++at) {
    if (at->second.phase != Phase::kHead) continue;
    if (longest == entries_.end() || at->second.since < longest->second.since) longest = at;
  }
  if (longest == entries_.end()) return;
  longest->second.phase = Phase::kShutDown;
  (void)::send(longest->first, farewell_.data(), farewell_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  ::shutdown(longest->first, SHUT_RDWR);
  ++crowding_.closed;
}

bool ApiDeadlines::is_crowding_untold() const { return crowding_.closed + crowding_.refused != 0; }

void ApiDeadlines::run() {
  Clock::time_point next_told = Clock::now();
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !entries_.empty() || is_crowding_untold(); });
    if (stopping_) return;
    const Clock::time_point now = Clock::now();
    for (auto& [descriptor, entry] : entries_) {
      if (entry.phase == Phase::kShutDown || now < entry.deadline) continue;
      entry.phase = Phase::kShutDown;
      ::shutdown(descriptor, SHUT_RDWR);
    }
    if (is_crowding_untold() && now >= next_told) {
      next_told = now + limits_.told_every;
      const Crowding told = std::exchange(crowding_, {});
      lock.unlock();
      tell_(told);
      lock.lock();
    }
    changed_.wait_for(lock, kLookForLateEvery, [this] { return stopping_; });
  }
}

}  // namespace vitrine::engine
