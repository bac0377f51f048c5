// SPDX-License-Identifier: Apache-2.0
// ApiDeadlines: how long the engine waits for each client, and who goes when there are too many.
//
// Whenever the engine waits for a client (for a head, for a body, for an answer to be taken) its
// connection has one deadline; what is late is shut down. When there are more connections than
// there may be, the one that has waited longest for a whole head goes, so that the newest has a
// place; connections with a request under way stay.
//
// Threads: any; a thread of its own looks for late ones until destroyed. A descriptor is known only
// while the server library has it open.
// Why: the library times idleness only, so a client that sends a byte now and then would keep its
// place for ever; and at its own limit the library closes new connections without a word.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace vitrine::engine {

class ApiDeadlines {
 public:
  using Clock = std::chrono::steady_clock;
  struct Limits {
    std::size_t connections = 0;
    std::chrono::milliseconds head_patience{};  // from the opening, and from each answer
    std::chrono::milliseconds told_every{};     // how often crowding is told at most
  };
  // What the API's limits have cost since it was last told.
  struct Crowding {
    std::uint64_t closed = 0;   // connections without a whole head
    std::uint64_t refused = 0;  // requests
  };
  using Tell = std::function<void(const Crowding&)>;
  enum class Room {
    kYes,
    kNone,  // too many connections: the request is to be refused, and counted
    kGone   // the connection was shut down, and its client told so
  };

  // `farewell` is sent to the connections that go because there are too many. `tell` is called by
  // the thread, and soon after the first one goes.
  ApiDeadlines(const Limits& limits, std::string farewell, Tell tell);
  ~ApiDeadlines();
  ApiDeadlines(const ApiDeadlines&) = delete;
  ApiDeadlines& operator=(const ApiDeadlines&) = delete;

  // Waits for its first head.
  void opened(int descriptor);
  // A whole head is there. The engine is busy with it, so there is no deadline.
  [[nodiscard]] Room head_arrived(int descriptor);
  // The engine has to wait for the client.
  void await_client(int descriptor, Clock::time_point deadline);
  // The client has done its part.
  void works(int descriptor) { await_client(descriptor, Clock::time_point::max()); }
  // Waits for its next head.
  void answered(int descriptor);
  void closed(int descriptor);
  // A request is refused since there are too many.
  void count_refusal();

 private:
  enum class Phase { kHead, kRequest, kShutDown };
  struct Entry {
    Phase phase = Phase::kHead;
    Clock::time_point since;
    Clock::time_point deadline;
  };

  void run();
  // These four with the mutex held.
  void await_head(int descriptor);
  [[nodiscard]] std::size_t live() const;
  void make_room();
  [[nodiscard]] bool is_crowding_untold() const;

  const Limits limits_;
  const std::string farewell_;
  const Tell tell_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::map<int, Entry> entries_;
  Crowding crowding_;
  std::thread thread_;
};

}  // namespace vitrine::engine
