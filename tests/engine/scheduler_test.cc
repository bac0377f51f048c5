// SPDX-License-Identifier: Apache-2.0
#include "engine/scheduler.h"

#include <catch2/catch.hpp>
#include <vector>

#include "tests/engine/scheduler_facts.h"

namespace vitrine::engine::testing {
namespace {

using shm::Priority;
using shm::WaitReason;
using Turn = JobPlan::Turn;

constexpr CircuitDemand kReady{KeyPresence::kReady, 100, 10};
constexpr CircuitDemand kAbsent{KeyPresence::kAbsent, 100, 10};
constexpr CircuitDemand kLoading{KeyPresence::kLoading, 100, 10};

std::vector<std::uint32_t> loads_of(const Plan& plan) {
  std::vector<std::uint32_t> circuits;
  for (const Plan::Load& load : plan.loads) circuits.push_back(load.circuit);
  return circuits;
}

// The jobs that start, in the order in which they do.
std::vector<std::uint32_t> started(const Plan& plan) {
  std::vector<std::uint32_t> jobs;
  for (const Plan::Start& start : plan.starts) jobs.insert(jobs.end(), start.partitions, start.job);
  return jobs;
}

using Numbers = std::vector<std::uint32_t>;

TEST_CASE("a partition starts when key, bytes, slot and room are there") {
  const Plan plan = Facts{{kReady}, {{0, 3}}}.plan();
  REQUIRE(plan.jobs.size() == 1);
  CHECK(plan.jobs[0].turn == Turn::kStarted);
  CHECK(plan.jobs[0].starts == 1);
  CHECK(plan.jobs[0].wait == WaitReason::kCpu);
}

TEST_CASE("a job whose last partition starts waits for nothing") {
  const Plan plan = Facts{{kReady}, {{0, 1}}}.plan();
  CHECK(plan.jobs[0].starts == 1);
  CHECK(plan.jobs[0].wait == WaitReason::kNone);
}

TEST_CASE("the obstacle is named: slot, room before the devices, memory with its bytes") {
  Facts facts{{kReady}, {{0, 1}}};
  facts.synthesis_slots = 0;
  CHECK(facts.plan().jobs[0].wait == WaitReason::kCpu);
  facts.synthesis_slots = 1;
  facts.device_room = 0;
  CHECK(facts.plan().jobs[0].wait == WaitReason::kDevice);
  facts.device_room = 1;
  facts.available_bytes = 9;
  const Plan plan = facts.plan();
  CHECK(plan.jobs[0].wait == WaitReason::kMemory);
  CHECK(plan.jobs[0].needs_bytes == 10);
}

TEST_CASE("ten jobs on one cold key ask for one load, for the first of them") {
  const Plan plan = Facts{{kAbsent}, std::vector<JobDemand>(10, {0, 1})}.plan();
  CHECK(loads_of(plan) == Numbers{0});
  CHECK(plan.loads[0].job == 0);
  for (const JobPlan& job : plan.jobs) CHECK(job.wait == WaitReason::kSrs);
}

TEST_CASE("a job that waits for its key lets later jobs of other circuits start") {
  const Plan plan = Facts{{kLoading, kReady}, {{0, 1}, {1, 1}}}.plan();
  CHECK(plan.jobs[0].wait == WaitReason::kSrs);
  CHECK(plan.jobs[1].starts == 1);
}

TEST_CASE("nothing overtakes a job that waits for memory") {
  Facts facts{{{KeyPresence::kReady, 100, 500}, kReady, kAbsent}, {{0, 1}, {1, 1}, {2, 1}}};
  facts.available_bytes = 400;
  facts.synthesis_slots = 8;
  facts.device_room = 8;
  const Plan plan = facts.plan();
  CHECK(plan.jobs[0].wait == WaitReason::kMemory);
  CHECK(plan.jobs[1].turn == Turn::kBehind);
  CHECK(plan.jobs[2].turn == Turn::kBehind);
  CHECK(plan.loads.empty());
}

TEST_CASE("a paused engine starts, loads and evicts nothing") {
  Facts facts{{kReady, kAbsent}, {{0, 1}, {1, 1}}};
  facts.circuits[1].is_wanted = true;
  facts.gate = SchedulerView::Gate::kPaused;
  const Plan plan = facts.plan();
  CHECK(plan.loads.empty());
  CHECK(plan.evictions.empty());
  for (const JobPlan& job : plan.jobs) {
    CHECK(job.starts == 0);
    CHECK(job.wait == WaitReason::kPaused);
  }
}

TEST_CASE("nothing of a plan is left in the next, which a pause makes of fewer jobs") {
  Facts facts{{kReady, kAbsent}, {{0, 1}, {1, 1}, {1, 1}}};
  Plan plan = facts.plan();
  CHECK(plan.line.size() == 3);
  facts.gate = SchedulerView::Gate::kPaused;
  facts.jobs.resize(1);
  make_plan(facts.view(), plan);
  CHECK(plan.jobs.size() == 1);
  CHECK(plan.line.empty());
  CHECK(plan.starts.empty());
  CHECK(plan.loads.empty());
}

TEST_CASE("priority comes first, then the earlier deadline, none last, then age") {
  Facts facts{{kReady},
              {demand(0, Priority::kLow, 1), demand(0, Priority::kNormal, 5),
               demand(0, Priority::kNormal, 4), demand(0, Priority::kNormal, 6, 900),
               demand(0, Priority::kNormal, 7, 800), demand(0, Priority::kCritical, 9),
               demand(0, Priority::kHigh, 8)}};
  facts.synthesis_slots = facts.device_room = 8;
  CHECK(started(facts.plan()) == Numbers{5, 6, 4, 3, 2, 1, 0});
}

TEST_CASE("critical work takes the one slot, the bytes and the loader that come free") {
  Facts facts{{kReady, kAbsent, kAbsent},
              {demand(0, Priority::kHigh), demand(1, Priority::kHigh),
               demand(0, Priority::kCritical), demand(2, Priority::kCritical)}};
  facts.available_bytes = 120;
  const Plan plan = facts.plan();
  CHECK(started(plan) == Numbers{2});
  CHECK(loads_of(plan) == Numbers{2});
}

TEST_CASE("one place before the devices and one loader are kept for critical work") {
  Facts facts{{kReady, kAbsent, kAbsent},
              {demand(0, Priority::kCritical), demand(0, Priority::kHigh),
               demand(1, Priority::kCritical), demand(2, Priority::kHigh)}};
  facts.synthesis_slots = 8;
  facts.device_room = facts.loaders = 0;
  facts.critical_room = facts.critical_loaders = 1;
  const Plan plan = facts.plan();
  CHECK(started(plan) == Numbers{0});
  CHECK(plan.jobs[1].wait == WaitReason::kDevice);
  CHECK(loads_of(plan) == Numbers{1});
  CHECK(plan.jobs[3].wait == WaitReason::kSrs);
}

TEST_CASE("a key whose job waits for a loader takes no bytes yet") {
  Facts facts{{kAbsent, kReady}, {demand(0, Priority::kNormal), demand(1, Priority::kNormal, 1)}};
  facts.loaders = 0;
  facts.available_bytes = 10;
  const Plan plan = facts.plan();
  CHECK(plan.jobs[0].wait == WaitReason::kSrs);
  CHECK(plan.loads.empty());
  CHECK(started(plan) == Numbers{1});
}

TEST_CASE("a load leaves the bytes of a more urgent job's next partition alone") {
  Facts facts{{{KeyPresence::kReady, 100, 300}, kAbsent},
              {demand(0, Priority::kHigh), demand(1, Priority::kNormal)}};
  facts.synthesis_slots = 0;
  facts.available_bytes = 399;
  CHECK(facts.plan().loads.empty());
  CHECK(facts.plan().jobs[1].wait == WaitReason::kMemory);
  facts.available_bytes = 400;
  CHECK(loads_of(facts.plan()) == Numbers{1});
}

TEST_CASE(
    "what has waited too long goes before everything but critical work, one partition of it") {
  Facts facts{{kReady},
              {demand(0, Priority::kLow, 400), demand(0, Priority::kHigh, 900),
               demand(0, Priority::kCritical, 950)}};
  facts.jobs[0].pending = 5;
  facts.synthesis_slots = facts.device_room = 4;
  facts.rules.starvation_limit_ns = 601;
  CHECK(started(facts.plan()) == Numbers{2, 1, 0, 0});
  CHECK(facts.plan().wake_at_ns == 1001);
  facts.now_ns = 1001;
  CHECK(started(facts.plan()) == Numbers{2, 0, 1, 0});
  CHECK(facts.plan().jobs[0].starts == 2);
  CHECK(facts.plan().jobs[0].wait == WaitReason::kCpu);
}

TEST_CASE("jobs of one circuit are held until a batch is full or its oldest has waited enough") {
  Facts facts{{kReady, kReady},
              {demand(0, Priority::kNormal, 900), demand(1, Priority::kNormal, 950),
               demand(0, Priority::kNormal, 990)}};
  facts.synthesis_slots = facts.device_room = 8;
  facts.rules.max_batch_size = 3;
  facts.rules.max_batch_wait_ns = 200;
  const Plan held = facts.plan();
  CHECK(held.starts.empty());
  for (const JobPlan& job : held.jobs) CHECK(job.wait == WaitReason::kBatch);
  CHECK(held.wake_at_ns == 1100);
  SECTION("full: all of it goes") {
    facts.jobs.push_back(demand(0, Priority::kNormal, 1000));
    CHECK(started(facts.plan()) == Numbers{0, 2, 3});
    CHECK(facts.plan().jobs[0].batch == 1);
    CHECK(facts.plan().jobs[3].batch == 1);
    CHECK(facts.plan().jobs[1].turn == Turn::kHeld);
  }
  SECTION("old: all of it goes") {
    facts.now_ns = 1100;
    CHECK(started(facts.plan()) == Numbers{0, 2});
    CHECK(facts.plan().wake_at_ns == 1150);
  }
}

TEST_CASE("the jobs of a batch follow each other, though others are older than some") {
  Facts facts{{kReady, kReady},
              {demand(0, Priority::kNormal, 1), demand(1, Priority::kNormal, 2),
               demand(0, Priority::kNormal, 3)}};
  facts.synthesis_slots = facts.device_room = 8;
  facts.rules.max_batch_size = 2;
  facts.rules.max_batch_wait_ns = 10;
  CHECK(started(facts.plan()) == Numbers{0, 2, 1});
  facts.jobs[0].batch = facts.jobs[2].batch = 7;  // as they were collected before
  CHECK(started(facts.plan()) == Numbers{0, 2, 1});
}

TEST_CASE("critical jobs are never held for a batch") {
  Facts facts{{kReady}, {demand(0, Priority::kCritical, 999), demand(0, Priority::kHigh, 999)}};
  facts.synthesis_slots = facts.device_room = 8;
  facts.rules.max_batch_size = 8;
  facts.rules.max_batch_wait_ns = 1000;
  CHECK(started(facts.plan()) == Numbers{0});
  CHECK(facts.plan().jobs[1].wait == WaitReason::kBatch);
}

TEST_CASE(
    "keys that are not needed are evicted, the longest unused first, and no more than enough") {
  Facts facts{{kAbsent,
               {KeyPresence::kReady, 100, 10, 0, 500},
               {KeyPresence::kReady, 100, 10, 0, 300},
               {KeyPresence::kReady, 100, 10, 0, 400}},
              {demand(0, Priority::kNormal)}};
  facts.available_bytes = 50;
  CHECK(facts.plan().evictions == Numbers{2});
  CHECK(facts.plan().jobs[0].wait == WaitReason::kMemory);
  CHECK(facts.plan().jobs[0].needs_bytes == 100);
  facts.circuits[2].key = KeyPresence::kLeaving;  // its bytes are on their way
  CHECK(facts.plan().evictions.empty());
  facts.circuits[0].key_bytes = 160;
  CHECK(facts.plan().evictions == Numbers{3});
}

TEST_CASE("keys in use, kept or of more urgent jobs are not evicted, nor any in vain") {
  Facts facts{{kAbsent,
               {KeyPresence::kReady, 100, 10, 1},
               {KeyPresence::kReady, 100, 10},
               {KeyPresence::kReady, 100, 10}},
              {demand(3, Priority::kHigh), demand(0, Priority::kNormal)}};
  facts.circuits[2].is_kept = true;
  facts.synthesis_slots = 0;
  facts.available_bytes = 90;
  CHECK(facts.plan().evictions.empty());
  facts.jobs.erase(facts.jobs.begin());
  CHECK(facts.plan().evictions == Numbers{3});
  facts.circuits[3].key_bytes = 9;  // would not be enough
  CHECK(facts.plan().evictions.empty());
}

TEST_CASE("working bytes are made room for like keys, keys of waiting jobs go last") {
  Facts facts{{{KeyPresence::kReady, 100, 200},
               {KeyPresence::kReady, 100, 10, 0, 1},
               {KeyPresence::kReady, 100, 10, 0, 2}},
              {demand(0, Priority::kHigh), demand(1, Priority::kNormal)}};
  facts.available_bytes = 100;
  CHECK(facts.plan().evictions == Numbers{2});
  CHECK(facts.plan().jobs[0].needs_bytes == 200);
  facts.available_bytes = 50;
  CHECK(facts.plan().evictions == Numbers{2, 1});
}

TEST_CASE("a key is evicted once it has been idle long enough, and the plan says when that is") {
  Facts facts{
      {kAbsent, {KeyPresence::kReady, 100, 10, 0, 900}, {KeyPresence::kReady, 100, 10, 0, 700}},
      {demand(0, Priority::kNormal)}};
  facts.rules.eviction_min_idle_ns = 500;
  facts.available_bytes = 0;
  CHECK(facts.plan().evictions.empty());
  CHECK(facts.plan().wake_at_ns == 1200);
  facts.circuits[0].key_bytes = 101;
  CHECK(facts.plan().wake_at_ns == 1400);  // both are needed
  facts.now_ns = 1400;
  CHECK(facts.plan().evictions.size() == 2);
}

TEST_CASE("a job that the kept keys of others leave no room for cannot fit") {
  Facts facts{{{KeyPresence::kReady, 500, 100}, {KeyPresence::kAbsent, 450, 51}}, {{1, 1}}};
  facts.available_bytes = 500;
  facts.circuits[0].is_kept = true;
  CHECK(facts.plan().jobs[0].turn == Turn::kCannotFit);
  CHECK(facts.plan().jobs[0].needs_bytes == 501);
  facts.circuits[1].partition_bytes = 50;
  CHECK(facts.plan().jobs[0].wait == WaitReason::kSrs);
}

TEST_CASE("a wanted key is loaded when no job needs the loader or the bytes") {
  Facts facts{{kAbsent, kAbsent}, {}};
  facts.circuits[1].is_wanted = true;
  CHECK(loads_of(facts.plan()) == Numbers{1});
  facts.jobs = {demand(0, Priority::kLow)};
  CHECK(loads_of(facts.plan()) == Numbers{0});
}

}  // namespace
}  // namespace vitrine::engine::testing
