// SPDX-License-Identifier: Apache-2.0
// Keeps slow and idle clients from holding the server's connections: every connection has one
// deadline at any time, and what is late, or idle while the server is crowded, is shut down.
//
// Why      the server library only times idleness, so a client that sends a byte a second would
//          keep its place for ever; and at its own limit the library stops accepting without a
//          word.
// Units    times are ns on CLOCK_MONOTONIC.
// Threads  any; one short lock. A descriptor is in the table only while the library has it open.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

namespace vitrine::exporters {

struct ConnectionLimits {
  std::size_t connections = 192;  // above this idle ones are shut down, then requests get 503
  std::size_t accepted = 256;     // the library's own limit a listener: never to be reached
  std::uint64_t head_ns = 5'000'000'000;     // from the connection to a whole head
  std::uint64_t answer_ns = 30'000'000'000;  // to take the whole answer
  std::uint64_t idle_ns = 15'000'000'000;    // from an answer to the next whole head
};

class ConnectionDeadlines {
 public:
  explicit ConnectionDeadlines(const ConnectionLimits& limits) : limits_(limits) {}

  // A new connection; when there are too many, the one that has waited longest for a request goes.
  void opened(int descriptor, std::uint64_t now_ns);
  // The request's head is complete. False when there is no room to serve it: answer 503, close.
  [[nodiscard]] bool begin_answer(int descriptor, std::uint64_t now_ns);
  void answered(int descriptor, std::uint64_t now_ns);
  void closed(int descriptor);

  void shut_down_late(std::uint64_t now_ns);
  std::size_t count() const;

 private:
  enum class Phase { kWaiting, kAnswering, kShutDown };
  struct Entry {
    Phase phase;
    std::uint64_t since_ns;
    std::uint64_t deadline_ns;
  };

  static void shut_down(int descriptor, Entry& entry);
  std::size_t live() const;

  const ConnectionLimits limits_;
  mutable std::mutex mutex_;
  std::map<int, Entry> entries_;
};

}  // namespace vitrine::exporters
