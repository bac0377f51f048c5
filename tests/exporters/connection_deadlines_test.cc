// SPDX-License-Identifier: Apache-2.0
#include "exporters/connection_deadlines.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace vitrine::exporters::testing {

namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

// The server's end of a connection, and whether the client would see it end.
class Pair {
 public:
  Pair() { REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends_) == 0); }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  ~Pair() {
    close(ends_[0]);
    close(ends_[1]);
  }
  int server() const { return ends_[0]; }
  bool is_shut_down() const {
    pollfd client{ends_[1], POLLIN, 0};
    return poll(&client, 1, 0) == 1;
  }

 private:
  int ends_[2];
};

}  // namespace

TEST_CASE("a client that does not finish its head in time is shut down, whatever it sends") {
  ConnectionDeadlines deadlines(ConnectionLimits{});
  const Pair slow;
  deadlines.opened(slow.server(), 0);
  deadlines.shut_down_late(5 * kSecondNs - 1);
  CHECK_FALSE(slow.is_shut_down());
  deadlines.shut_down_late(5 * kSecondNs);
  CHECK(slow.is_shut_down());
  CHECK(deadlines.count() == 1);
  deadlines.closed(slow.server());
  CHECK(deadlines.count() == 0);
}

TEST_CASE("each phase of a connection has its own deadline") {
  ConnectionDeadlines deadlines(ConnectionLimits{});
  const Pair client;
  deadlines.opened(client.server(), 0);
  CHECK(deadlines.begin_answer(client.server(), 4 * kSecondNs));
  deadlines.shut_down_late(33 * kSecondNs);
  CHECK_FALSE(client.is_shut_down());
  deadlines.answered(client.server(), 33 * kSecondNs);
  deadlines.shut_down_late(47 * kSecondNs);
  CHECK_FALSE(client.is_shut_down());
  deadlines.shut_down_late(48 * kSecondNs);
  CHECK(client.is_shut_down());
}

TEST_CASE("a client that does not take its answer is shut down") {
  ConnectionDeadlines deadlines(ConnectionLimits{});
  const Pair client;
  deadlines.opened(client.server(), 0);
  CHECK(deadlines.begin_answer(client.server(), 0));
  deadlines.shut_down_late(30 * kSecondNs);
  CHECK(client.is_shut_down());
}

TEST_CASE("when it is crowded the connection that has waited longest makes room") {
  ConnectionLimits limits;
  limits.connections = 2;
  ConnectionDeadlines deadlines(limits);
  const Pair busy, old, newer, newest;
  deadlines.opened(busy.server(), 0);
  CHECK(deadlines.begin_answer(busy.server(), 1));
  deadlines.opened(old.server(), 2);
  deadlines.opened(newer.server(), 3);
  CHECK(old.is_shut_down());
  deadlines.opened(newest.server(), 4);
  CHECK(newer.is_shut_down());
  CHECK_FALSE(busy.is_shut_down());
  CHECK(deadlines.begin_answer(newest.server(), 5));
}

TEST_CASE("when every connection is at work the next request has no room") {
  ConnectionLimits limits;
  limits.connections = 1;
  ConnectionDeadlines deadlines(limits);
  const Pair busy, late;
  deadlines.opened(busy.server(), 0);
  CHECK(deadlines.begin_answer(busy.server(), 0));
  deadlines.opened(late.server(), 1);
  CHECK_FALSE(deadlines.begin_answer(late.server(), 2));
  CHECK_FALSE(busy.is_shut_down());
  deadlines.closed(busy.server());
  CHECK(deadlines.begin_answer(late.server(), 3));
}

}  // namespace vitrine::exporters::testing
