// SPDX-License-Identifier: Apache-2.0
// Who is waited for, and how long: by real sockets whose other end a test holds.
#include "engine/api_deadlines.h"

#include <sys/socket.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "engine/api_body_pace.h"
#include "shm/file_descriptor.h"

namespace vitrine::engine::testing {
namespace {

using namespace std::chrono_literals;
using Clock = ApiDeadlines::Clock;
using Room = ApiDeadlines::Room;

// Two ends of a connection.
class Connection {
 public:
  Connection() {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    engine_ = shm::FileDescriptor(ends[0]);
    client_ = shm::FileDescriptor(ends[1]);
  }
  int engine() const { return engine_.number(); }
  // What the client gets until its connection is shut down; waits for that.
  std::string end() const {
    std::string bytes;
    char buffer[256];
    for (ssize_t size = 0; (size = ::recv(client_.number(), buffer, sizeof(buffer), 0)) > 0;) {
      bytes.append(buffer, static_cast<std::size_t>(size));
    }
    return bytes;
  }
  bool is_open() const {
    char byte = 0;
    return ::recv(client_.number(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0;
  }

 private:
  shm::FileDescriptor engine_, client_;
};

constexpr auto kNothingTold = [](const ApiDeadlines::Crowding&) {};

TEST_CASE("whatever the engine waits for has a deadline, and its own work has none") {
  ApiDeadlines deadlines({10, 50ms, 1h}, "bye", kNothingTold);
  const Connection head, body, answer, next, working;
  for (const Connection* one : {&head, &body, &answer, &next, &working}) {
    deadlines.opened(one->engine());
  }
  for (const Connection* one : {&body, &answer, &next, &working}) {
    CHECK(deadlines.head_arrived(one->engine()) == Room::kYes);
  }
  deadlines.await_client(body.engine(), Clock::now() + 50ms);
  deadlines.works(answer.engine());
  deadlines.await_client(answer.engine(), Clock::now() + 50ms);
  deadlines.answered(next.engine());
  for (const Connection* one : {&head, &body, &answer, &next}) CHECK(one->end().empty());
  CHECK(working.is_open());
  CHECK(deadlines.head_arrived(head.engine()) == Room::kGone);
  deadlines.answered(body.engine());  // as the server says it of any that ends
  CHECK(deadlines.head_arrived(body.engine()) == Room::kGone);
}

TEST_CASE("the connection that has waited longest for a request goes, never one that has it") {
  std::atomic<unsigned> told{0}, closed{0}, refused{0};
  ApiDeadlines deadlines({3, 1h, 1h}, "bye", [&](const ApiDeadlines::Crowding& crowding) {
    closed += static_cast<unsigned>(crowding.closed);
    refused += static_cast<unsigned>(crowding.refused);
    ++told;
  });
  const Connection busy, oldest, answered, fourth, fifth, sixth, seventh;
  for (const Connection* one : {&busy, &answered, &oldest}) {
    deadlines.opened(one->engine());
    if (one != &oldest) CHECK(deadlines.head_arrived(one->engine()) == Room::kYes);
  }
  deadlines.answered(answered.engine());
  deadlines.opened(fourth.engine());
  CHECK(oldest.end() == "bye");
  deadlines.opened(fifth.engine());
  CHECK(answered.end() == "bye");
  CHECK(deadlines.head_arrived(fourth.engine()) == Room::kYes);
  CHECK(deadlines.head_arrived(fifth.engine()) == Room::kYes);
  // Now all have a request: the next is told that there is no room, until one has gone.
  deadlines.opened(sixth.engine());
  CHECK(deadlines.head_arrived(sixth.engine()) == Room::kNone);
  deadlines.count_refusal();
  deadlines.closed(sixth.engine());
  deadlines.closed(busy.engine());
  deadlines.opened(seventh.engine());
  CHECK(deadlines.head_arrived(seventh.engine()) == Room::kYes);
  CHECK(busy.is_open());
  CHECK(fourth.is_open());
  while (told == 0) std::this_thread::sleep_for(1ms);
  CHECK(told == 1);
  CHECK(closed + refused >= 1);
}

TEST_CASE("a body may be behind its least rate by its patience, and no credit grows") {
  const Clock::time_point start{};
  const auto at = [&](std::chrono::milliseconds since) { return start + since; };
  ApiBodyPace pace(30s, start);
  CHECK(pace.deadline() == at(30s));
  constexpr std::size_t kSecond = ApiBodyPace::kBytesPerSecond;
  pace.took(kSecond, at(10s), at(10s));
  CHECK(pace.deadline() == at(31s));
  pace.took(10, at(20s), at(20s));
  CHECK(pace.deadline() < at(31s + 1ms));
  // Hundreds of MiB at the least rate are never late, however long they take.
  for (int second = 20; second < 10'000; ++second) {
    const auto now = at(std::chrono::seconds(second));
    REQUIRE(now < pace.deadline());
    pace.took(kSecond, now, now);
  }
  // What came at once is worth no more than the patience.
  pace.took(std::size_t{1} << 30, at(10'000s), at(10'000s));
  CHECK(pace.deadline() == at(10'030s));
  // A disk that stood still for an hour is not the client's fault.
  pace.took(1, at(10'025s), at(13'625s));
  CHECK(pace.deadline() - at(13'625s) >= 5s);
}

}  // namespace
}  // namespace vitrine::engine::testing
