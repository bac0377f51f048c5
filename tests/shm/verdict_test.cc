// SPDX-License-Identifier: Apache-2.0
#include "shm/verdict.h"

#include <catch2/catch.hpp>

namespace vitrine::shm {
namespace {

constexpr std::uint64_t kIntervalNs = 100'000'000;
constexpr std::uint64_t kStartNs = 1'000'000'000'000;

// What a verdict is made from, of a healthy idle engine unless a test says otherwise.
struct Case {
  SegmentIdentity identity;
  Snapshot snapshot;
  Liveness liveness{.lock_held = true, .name_linked = true, .is_file = false};
  HeartbeatWatch heartbeat;

  Case() {
    identity.pid = 4711;
    identity.host.assign("prover");
    identity.path = "/dev/shm/vitrine.main";
    snapshot.incarnation.assign(1, 'a');
    snapshot.consistent = true;
    snapshot.life = EngineLife::kReady;
    snapshot.heartbeat = 10;
    snapshot.heartbeat_interval_ns = kIntervalNs;
    snapshot.heartbeat_monotonic_ns = kStartNs;
    snapshot.rows<EngineRecord>().resize(1);
    snapshot.rows<WorkerRecord>().resize(2);
    for (WorkerRecord& worker : snapshot.rows<WorkerRecord>()) worker.state = WorkerState::kIdle;
    look_after(0);
  }

  // Another look at the same snapshot.
  void look_after(std::uint64_t passed_ns) {
    snapshot.taken_monotonic_ns = kStartNs + passed_ns;
    heartbeat.observe(snapshot, snapshot.taken_monotonic_ns);
  }
  void stop_heart() { look_after(4 * kIntervalNs); }
  void add_thread(std::string_view name, std::int64_t age_seconds, std::uint64_t limit_seconds) {
    ThreadRecord thread;
    thread.name = name;
    thread.step = std::string_view("proving");
    thread.since = Instant{kStartNs - static_cast<std::uint64_t>(age_seconds * 1'000'000'000)};
    thread.limit_ns = limit_seconds * 1'000'000'000;
    thread.job = Id{12};
    thread.partition = Index::of(3);
    snapshot.rows<ThreadRecord>().push_back(thread);
  }
  void work() { snapshot.rows<WorkerRecord>()[1].state = WorkerState::kProving; }

  Verdict judge() const { return shm::judge({identity, snapshot, liveness, heartbeat}); }
};

struct Expectation {
  const char* what;
  void (*change)(Case&);
  VerdictWord word;
  const char* reason;
  int exit_code;
};

const Expectation kExpectations[] = {
    {"idle", [](Case&) {}, VerdictWord::kIdle, "no work", 0},
    {"paused", [](Case& c) { c.snapshot.rows<EngineRecord>()[0].paused = 1; }, VerdictWord::kIdle,
     "paused", 0},
    {"busy", [](Case& c) { c.work(); }, VerdictWord::kBusy, "1 of 2 workers proving", 0},
    {"job active",
     [](Case& c) {
       c.snapshot.rows<JobRecord>().resize(1);
       c.snapshot.rows<JobRecord>()[0].state = JobState::kRunning;
     },
     VerdictWord::kBusy, "1 active job", 0},
    {"degraded, and busy",
     [](Case& c) {
       c.work();
       c.snapshot.life = EngineLife::kDegraded;
       c.snapshot.rows<EngineRecord>()[0].degraded_reason.assign("device 1 lost");
     },
     VerdictWord::kDegraded, "device 1 lost", 1},
    {"name lost", [](Case& c) { c.liveness.name_linked = false; }, VerdictWord::kDegraded,
     "no longer leads to it", 1},
    {"draining, degraded too",
     [](Case& c) {
       c.snapshot.life = EngineLife::kDraining;
       c.snapshot.rows<EngineRecord>()[0].degraded_reason.assign("x");
     },
     VerdictWord::kDraining, "takes no more", 1},
    {"starting", [](Case& c) { c.snapshot.life = EngineLife::kStarting; }, VerdictWord::kStarting,
     "4711", 0},
    {"a life without a word", [](Case& c) { c.snapshot.life = static_cast<EngineLife>(99); },
     VerdictWord::kIdle, "", 0},
    {"hung, while draining",
     [](Case& c) {
       c.snapshot.life = EngineLife::kDraining;
       c.stop_heart();
     },
     VerdictWord::kHung, "stood at 10 for 400ms", 6},
    {"hung in a step, while degraded",
     [](Case& c) {
       c.snapshot.life = EngineLife::kDegraded;
       c.add_thread("worker-0", 50, 60);
       c.add_thread("worker-1", 75, 60);
     },
     VerdictWord::kHung,
     "thread worker-1 has been in step proving for 1m15s, its limit is 1m00s; job 12 partition 3",
     6},
    {"a step within its limit", [](Case& c) { c.add_thread("worker-0", 60, 60); },
     VerdictWord::kIdle, "no work", 0},
    {"a step without a limit", [](Case& c) { c.add_thread("worker-0", 1'000'000, 0); },
     VerdictWord::kIdle, "no work", 0},
    {"a step that begins in the future", [](Case& c) { c.add_thread("worker-0", -5, 1); },
     VerdictWord::kIdle, "no work", 0},
    {"dead, in an overdue step, struck down",
     [](Case& c) {
       c.add_thread("worker-1", 75, 60);
       c.liveness.lock_held = false;
       c.snapshot.last_words.written = 1;
       c.snapshot.last_words.signal = 11;
       c.snapshot.last_words.thread = std::string_view("worker-1");
       c.snapshot.last_words.job = Id{12};
       c.snapshot.last_words.partition = Index::of(3);
       c.snapshot.last_words.stage = PartitionStage::kGpuProving;
     },
     VerdictWord::kDead,
     "struck by signal 11 in thread worker-1 at gpu_proving of job 12 partition 3", 4},
    {"dead, in mid-work, after a signal",
     [](Case& c) {
       c.work();
       c.stop_heart();
       c.liveness.lock_held = false;
       c.snapshot.last_signal = 15;
       c.snapshot.heartbeat_age_ns = 3'200'000'000;
     },
     VerdictWord::kDead, "last sign of life 3.2s ago, then ready, after signal 15", 4},
    {"exited, lock gone",
     [](Case& c) {
       c.liveness.lock_held = false;
       c.snapshot.life = EngineLife::kClosed;
       c.snapshot.exit_code = 3;
     },
     VerdictWord::kExited, "exited with code 3", 4},
    {"exiting, lock still held", [](Case& c) { c.snapshot.life = EngineLife::kClosed; },
     VerdictWord::kExited, "exited with code 0", 4},
};

}  // namespace

TEST_CASE("Each verdict has its word, its evidence and its exit code, by precedence") {
  for (const Expectation& expected : kExpectations) {
    CAPTURE(expected.what);
    Case c;
    expected.change(c);
    const Verdict verdict = c.judge();
    CHECK(word(verdict.word) == word(expected.word));
    CHECK_THAT(verdict.reason, Catch::Contains(expected.reason));
    CHECK(exit_code_of(verdict.word) == expected.exit_code);
  }
  CHECK(exit_code_of(VerdictWord::kUnreadable) == 5);
}

TEST_CASE("A dead engine's verdict names the step that it was in longest") {
  Case c;
  c.work();
  WorkerRecord& worker = c.snapshot.rows<WorkerRecord>()[1];
  worker.identity.row = 1;
  worker.stage = PartitionStage::kGpuProving;
  worker.job = Id{12};
  worker.since = Instant{kStartNs - 4'100'000'000};
  c.liveness.lock_held = false;
  CHECK_THAT(c.judge().reason, Catch::Contains("worker 1 in gpu_proving of job 12 for 4.1s"));
}

TEST_CASE("One look never says that a heart stands, whatever the engine's clock says") {
  Case c;
  c.snapshot.heartbeat_age_ns = 1'000'000'000'000;
  CHECK_FALSE(c.heartbeat.stands());
  c.look_after(3 * kIntervalNs);
  CHECK_FALSE(c.heartbeat.stands());
  c.look_after(3 * kIntervalNs + 1);
  CHECK(c.heartbeat.stands());
  ++c.snapshot.heartbeat;
  c.look_after(10 * kIntervalNs);
  CHECK_FALSE(c.heartbeat.stands());
}

TEST_CASE("A heart that beat in another incarnation is another heart") {
  Case c;
  c.stop_heart();
  c.snapshot.incarnation.assign(1, 'b');
  c.look_after(5 * kIntervalNs);
  CHECK_FALSE(c.heartbeat.stands());
}

TEST_CASE("A reader whose clock does not compare counts from the beats that it saw") {
  Case c;
  ++c.snapshot.heartbeat;
  c.snapshot.heartbeat_age_ns = 3'600'000'000'000;  // though it beat since the look before
  c.look_after(kIntervalNs);
  CHECK(c.snapshot.heartbeat_age_ns == 0);
  c.snapshot.heartbeat_age_ns = 3'600'000'000'000;
  c.look_after(2 * kIntervalNs);
  CHECK(c.snapshot.heartbeat_age_ns == kIntervalNs);
}

TEST_CASE("An interval that nobody would wait for is not believed") {
  Snapshot snapshot;
  CHECK(credible_interval_ns(snapshot) == 1'000'000);
  snapshot.heartbeat_interval_ns = ~std::uint64_t{0};
  CHECK(credible_interval_ns(snapshot) == 2'000'000'000);
}

}  // namespace vitrine::shm
