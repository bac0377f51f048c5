// SPDX-License-Identifier: Apache-2.0
#include "exporters/connection_deadlines.h"

#include <sys/socket.h>

#include <algorithm>

namespace vitrine::exporters {

void ConnectionDeadlines::opened(int descriptor, std::uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  if (live() >= limits_.connections) {
    auto longest = entries_.end();
    for (auto it = entries_.begin(); it != entries_.end(); ++it) {
      if (it->second.phase != Phase::kWaiting) continue;
      if (longest == entries_.end() || it->second.since_ns < longest->second.since_ns) {
        longest = it;
      }
    }
    if (longest != entries_.end()) shut_down(longest->first, longest->second);
  }
  entries_[descriptor] = Entry{Phase::kWaiting, now_ns, now_ns + limits_.head_ns};
}

bool ConnectionDeadlines::begin_answer(int descriptor, std::uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  const auto it = entries_.find(descriptor);
  if (it == entries_.end()) return true;
  if (it->second.phase != Phase::kShutDown) {
    it->second = Entry{Phase::kAnswering, now_ns, now_ns + limits_.answer_ns};
  }
  return live() <= limits_.connections;
}

void ConnectionDeadlines::answered(int descriptor, std::uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  const auto it = entries_.find(descriptor);
  if (it == entries_.end() || it->second.phase != Phase::kAnswering) return;
  it->second = Entry{Phase::kWaiting, now_ns, now_ns + limits_.idle_ns};
}

void ConnectionDeadlines::closed(int descriptor) {
  const std::lock_guard lock(mutex_);
  entries_.erase(descriptor);
}

void ConnectionDeadlines::shut_down_late(std::uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  for (auto& [descriptor, entry] : entries_) {
    if (now_ns >= entry.deadline_ns) shut_down(descriptor, entry);
  }
}

std::size_t ConnectionDeadlines::count() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

void ConnectionDeadlines::shut_down(int descriptor, Entry& entry) {
  if (entry.phase == Phase::kShutDown) return;
  entry.phase = Phase::kShutDown;
  shutdown(descriptor, SHUT_RDWR);
}

std::size_t ConnectionDeadlines::live() const {
  return static_cast<std::size_t>(
      std::count_if(entries_.begin(), entries_.end(),
                    [](const auto& item) { return item.second.phase != Phase::kShutDown; }));
}

}  // namespace vitrine::exporters
