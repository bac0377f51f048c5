// SPDX-License-Identifier: Apache-2.0
// Each invariant holds in a busy engine's state, and is reported when it is broken once.
#include "shm/invariants.h"

#include <catch2/catch.hpp>

namespace vitrine::shm {
namespace {

constexpr Id kJob{7};

// A job of three partitions: one on a device, one waiting for it, one done.
PartitionRecord partition(std::uint32_t number, PartitionStage stage) {
  PartitionRecord row;
  row.identity = {5, number, 1};
  row.job = kJob;
  row.job_row = Index::of(0);
  row.partition = number;
  row.stage = stage;
  row.attempt = 1;
  row.created = Instant{100};
  row.synth_start = Instant{200};
  row.synth_end = Instant{300};
  row.gpu_queue = Instant{300};
  return row;
}

void add_partitions(Snapshot& snapshot) {
  auto& rows = snapshot.rows<PartitionRecord>();
  rows = {partition(0, PartitionStage::kGpuProving), partition(1, PartitionStage::kGpuQueued),
          partition(2, PartitionStage::kDone)};
  rows[0].worker = Index::of(1);
  rows[0].reserved_bytes = 30;
  rows[1].wait_reason = WaitReason::kDevice;
  rows[1].wait_since = Instant{300};
  rows[1].reserved_bytes = 20;
  rows[2].finished = Instant{600};
}

void add_jobs(Snapshot& snapshot) {
  JobRecord running;
  running.identity = {5, 0, 1};
  running.job = kJob;
  running.state = JobState::kRunning;
  running.proof_kind.assign("sha");
  running.attempt = 1;
  running.partitions = 3;
  running.partitions_gpu_proving = running.partitions_gpu_queued = running.partitions_done = 1;
  running.submitted = Instant{50};
  running.started = Instant{200};
  JobRecord waiting;
  waiting.identity = {5, 1, 1};
  waiting.job = Id{8};
  waiting.state = JobState::kQueued;
  waiting.proof_kind.assign("rare");  // counted as `other`
  waiting.partitions = waiting.partitions_pending = 2;
  waiting.wait_reason = WaitReason::kMemory;
  waiting.wait_since = Instant{60};
  waiting.wait_needs_bytes = 1000;
  snapshot.rows<JobRecord>() = {running, waiting};
}

void add_counters(Snapshot& snapshot) {
  CountersRecord sha;
  sha.identity = {5, 0, 1};
  sha.proof_kind.assign("sha");
  sha.submitted = 4;
  sha.running = 1;
  sha.done = 3;  // their rows were given to others
  CountersRecord other;
  other.identity = {5, 1, 1};
  other.proof_kind.assign("other");
  other.submitted = other.queued = 1;
  snapshot.rows<CountersRecord>() = {sha, other};
}

void add_memory(Snapshot& snapshot) {
  MemoryRecord memory;
  memory.identity.stamp = 5;
  memory.budget_bytes = 200;
  memory.reserved_bytes = 150;
  memory.srs_bytes = 60;
  memory.pce_bytes = 40;
  memory.working_bytes = 50;
  snapshot.rows<MemoryRecord>() = {memory};
  AllocationRecord srs;
  srs.identity = {5, 0, 1};
  srs.kind = AllocationKind::kSrs;
  srs.state = AllocationState::kReady;
  srs.reserved_bytes = 60;
  AllocationRecord pce = srs;
  pce.identity.row = 1;
  pce.kind = AllocationKind::kPce;
  pce.reserved_bytes = 40;
  snapshot.rows<AllocationRecord>() = {srs, pce};
}

Snapshot busy_state() {
  Snapshot snapshot;
  snapshot.consistent = true;
  snapshot.commit = 5;
  snapshot.heartbeat = 5;
  snapshot.last_event_sequence = 5;
  WorkerRecord idle;
  idle.identity = {5, 0, 1};
  idle.state = WorkerState::kIdle;
  idle.idle_reason = IdleReason::kNoWork;
  idle.busy_ns = 100;
  WorkerRecord busy = idle;
  busy.identity.row = 1;
  busy.state = WorkerState::kProving;
  busy.job = kJob;
  busy.partition_row = Index::of(0);
  snapshot.rows<WorkerRecord>() = {idle, busy};
  add_partitions(snapshot);
  add_jobs(snapshot);
  add_counters(snapshot);
  add_memory(snapshot);
  return snapshot;
}

template <class Record>
Record& row(Snapshot& snapshot, std::size_t number) {
  return snapshot.rows<Record>()[number];
}

struct Breach {
  const char* what;
  const char* invariant;
  void (*apply)(Snapshot&);
};

const Breach kBreaches[] = {
    {"sum", "I1", [](Snapshot& s) { ++row<CountersRecord>(s, 0).submitted; }},
    {"gauge", "I1",
     [](Snapshot& s) {
       ++row<CountersRecord>(s, 0).running;
       ++row<CountersRecord>(s, 0).submitted;
     }},
    {"job not active", "I2", [](Snapshot& s) { row<WorkerRecord>(s, 1).job = Id{8}; }},
    {"other worker", "I2", [](Snapshot& s) { row<PartitionRecord>(s, 0).worker = Index::of(0); }},
    {"no worker", "I2", [](Snapshot& s) { row<WorkerRecord>(s, 1).state = WorkerState::kIdle; }},
    {"two workers", "I2",
     [](Snapshot& s) {
       row<WorkerRecord>(s, 0) = row<WorkerRecord>(s, 1);
       row<WorkerRecord>(s, 0).identity.row = 0;
     }},
    {"stages", "I3", [](Snapshot& s) { ++row<JobRecord>(s, 0).partitions; }},
    {"stage of a row", "I3",
     [](Snapshot& s) { row<PartitionRecord>(s, 2).stage = PartitionStage::kFailed; }},
    {"lost row", "I3", [](Snapshot& s) { s.rows<PartitionRecord>().pop_back(); }},
    {"failed without a cause", "I3",
     [](Snapshot& s) {
       row<JobRecord>(s, 1).state = JobState::kFailed;
       row<CountersRecord>(s, 1).queued = 0;
       row<CountersRecord>(s, 1).failed = 1;
     }},
    {"over budget", "I4", [](Snapshot& s) { row<MemoryRecord>(s, 0).budget_bytes = 149; }},
    {"consumer", "I4", [](Snapshot& s) { row<MemoryRecord>(s, 0).reserved_bytes = 151; }},
    {"owner", "I4", [](Snapshot& s) { row<PartitionRecord>(s, 1).reserved_bytes = 21; }},
    {"below zero", "I4", [](Snapshot& s) { row<CountersRecord>(s, 0).partitions_done = -1; }},
    {"narrow and below zero", "I4", [](Snapshot& s) { row<MemoryRecord>(s, 0).waiters = -1; }},
    {"no reason", "I5",
     [](Snapshot& s) { row<PartitionRecord>(s, 1).wait_reason = WaitReason::kNone; }},
    {"since", "I5", [](Snapshot& s) { row<JobRecord>(s, 1).wait_since = {}; }},
    {"how much", "I5", [](Snapshot& s) { row<JobRecord>(s, 1).wait_needs_bytes = 0; }},
    {"end before start", "I6",
     [](Snapshot& s) { row<PartitionRecord>(s, 0).synth_end = Instant{150}; }},
    {"finished before submitted", "I6",
     [](Snapshot& s) { row<JobRecord>(s, 0).finished = Instant{40}; }},
    {"row of the future", "I7", [](Snapshot& s) { row<JobRecord>(s, 0).identity.stamp = 6; }}};

const Breach kLaterBreaches[] = {
    {"commit", "I7", [](Snapshot& s) { s.commit = 4; }},
    {"heartbeat", "I7", [](Snapshot& s) { s.heartbeat = 4; }},
    {"events", "I7", [](Snapshot& s) { s.last_event_sequence = 4; }},
    {"stamp", "I7", [](Snapshot& s) { row<WorkerRecord>(s, 0).identity.stamp = 4; }},
    {"generation", "I7", [](Snapshot& s) { row<JobRecord>(s, 0).identity.generation = 0; }},
    {"counter", "I8", [](Snapshot& s) { row<WorkerRecord>(s, 0).busy_ns = 99; }}};

}  // namespace

TEST_CASE("A sound state violates nothing, alone and after itself") {
  const Snapshot snapshot = busy_state();
  CHECK(check_invariants(snapshot, nullptr) == std::vector<std::string>{});
  CHECK(check_invariants(snapshot, &snapshot) == std::vector<std::string>{});
}

TEST_CASE("Each invariant broken once within a snapshot is reported by its name") {
  for (const Breach& breach : kBreaches) {
    CAPTURE(breach.what);
    Snapshot snapshot = busy_state();
    breach.apply(snapshot);
    const auto violations = check_invariants(snapshot, nullptr);
    REQUIRE_FALSE(violations.empty());
    CAPTURE(violations);
    for (const std::string& violation : violations) CHECK(violation.starts_with(breach.invariant));
  }
}

TEST_CASE("What fell between two snapshots of an incarnation is reported, and only then") {
  const Snapshot earlier = busy_state();
  for (const Breach& breach : kLaterBreaches) {
    CAPTURE(breach.what);
    Snapshot later = busy_state();
    breach.apply(later);
    const auto violations = check_invariants(later, &earlier);
    REQUIRE_FALSE(violations.empty());
    CHECK(violations.back().starts_with(breach.invariant));
    later.incarnation.assign("another");
    for (const std::string& violation : check_invariants(later, &earlier)) {
      CHECK_THAT(violation, !Catch::Contains("fell"));
    }
  }
}

TEST_CASE("Partitions done never fall within an attempt, but start again with the next") {
  const Snapshot earlier = busy_state();
  Snapshot later = busy_state();
  row<PartitionRecord>(later, 2).stage = PartitionStage::kSynthesizing;
  row<JobRecord>(later, 0).partitions_done = 0;
  row<JobRecord>(later, 0).partitions_synthesizing = 1;
  const auto violations = check_invariants(later, &earlier);
  REQUIRE(violations.size() == 1);
  CHECK_THAT(violations[0], Catch::Contains("I3") && Catch::Contains("fell from 1 to 0"));
  row<JobRecord>(later, 0).attempt = 2;
  CHECK(check_invariants(later, &earlier).empty());
}

TEST_CASE("A snapshot that is not of one moment is not held to anything") {
  Snapshot snapshot = busy_state();
  snapshot.consistent = false;
  row<MemoryRecord>(snapshot, 0).budget_bytes = 0;
  CHECK(check_invariants(snapshot, nullptr).empty());
}

TEST_CASE("A quiet engine holds nothing but its caches") {
  Snapshot quiet = busy_state();
  CHECK_FALSE(check_quiet(quiet).empty());
  quiet.rows<PartitionRecord>().clear();
  quiet.rows<JobRecord>().clear();
  row<WorkerRecord>(quiet, 1) = row<WorkerRecord>(quiet, 0);
  for (CountersRecord& counters : quiet.rows<CountersRecord>()) {
    counters.running = counters.queued = 0;
  }
  row<MemoryRecord>(quiet, 0).reserved_bytes = 100;
  CHECK(check_quiet(quiet) == std::vector<std::string>{});
  row<WorkerRecord>(quiet, 0).idle_reason = IdleReason::kPaused;
  row<MemoryRecord>(quiet, 0).reserved_bytes = 101;
  quiet.rows<BuffersRecord>().resize(1);
  row<BuffersRecord>(quiet, 0).aux_in_flight = 1;
  CHECK(check_quiet(quiet).size() == 3);
}

}  // namespace vitrine::shm
