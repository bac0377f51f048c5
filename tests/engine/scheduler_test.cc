// SPDX-License-Identifier: Apache-2.0
#include "engine/scheduler.h"

#include <catch2/catch.hpp>
#include <random>
#include <vector>

namespace vitrine::engine {
namespace {

using shm::WaitReason;
using Turn = JobPlan::Turn;

constexpr CircuitDemand kReady{KeyPresence::kReady, 100, 10};
constexpr CircuitDemand kAbsent{KeyPresence::kAbsent, 100, 10};
constexpr CircuitDemand kLoading{KeyPresence::kLoading, 100, 10};

struct Facts {
  std::vector<CircuitDemand> circuits;
  std::vector<JobDemand> jobs;
  std::uint64_t total_bytes = 1000;
  std::uint64_t available_bytes = 800;
  std::uint32_t synthesis_slots = 1;
  std::uint32_t device_room = 2;
  SchedulerView::Gate gate = SchedulerView::Gate::kOpen;

  Plan plan() const {
    Plan made;
    make_plan({circuits, jobs, total_bytes, available_bytes, synthesis_slots, device_room, gate},
              made);
    return made;
  }
};

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

TEST_CASE("ten jobs on one cold key ask for one load") {
  const Plan plan = Facts{{kAbsent}, std::vector<JobDemand>(10, {0, 1})}.plan();
  CHECK(plan.loads == std::vector<std::uint32_t>{0});
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

TEST_CASE("a key that would leave no room for a partition beside the loaded ones cannot fit") {
  Facts facts{{{KeyPresence::kReady, 500, 100}, {KeyPresence::kAbsent, 450, 10}}, {{1, 1}}};
  facts.available_bytes = 500;
  CHECK(facts.plan().jobs[0].turn == Turn::kCannotFit);
  facts.circuits[1].key_bytes = 400;
  CHECK(facts.plan().jobs[0].wait == WaitReason::kSrs);
}

TEST_CASE("keys fit together only when the largest partition still does") {
  std::vector<CircuitDemand> circuits = {{KeyPresence::kLoading, 400, 300},
                                         {KeyPresence::kAbsent, 300, 1}};
  CHECK(key_fits(circuits, 1, 1000));
  CHECK_FALSE(key_fits(circuits, 1, 999));
  circuits[0].key = KeyPresence::kAbsent;
  CHECK(key_fits(circuits, 1, 301));
}

TEST_CASE("a paused engine starts and loads nothing") {
  Facts facts{{kReady, kAbsent}, {{0, 1}, {1, 1}}};
  facts.gate = SchedulerView::Gate::kPaused;
  const Plan plan = facts.plan();
  CHECK(plan.loads.empty());
  for (const JobPlan& job : plan.jobs) {
    CHECK(job.starts == 0);
    CHECK(job.wait == WaitReason::kPaused);
  }
}

Facts random_facts(std::mt19937& random) {
  Facts facts;
  for (std::uint32_t i = 0, count = 1 + random() % 4; i < count; ++i) {
    facts.circuits.push_back(
        {static_cast<KeyPresence>(random() % 3), random() % 400, random() % 300});
  }
  for (std::uint32_t i = 0, count = random() % 8; i < count; ++i) {
    const auto circuit = static_cast<std::uint32_t>(random() % facts.circuits.size());
    facts.jobs.push_back({circuit, 1 + static_cast<std::uint32_t>(random() % 5)});
  }
  facts.available_bytes = random() % 1001;
  facts.synthesis_slots = random() % 4;
  facts.device_room = random() % 4;
  return facts;
}

TEST_CASE("no plan spends what is not there, and every job that is left waits for something") {
  const auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 20'000; ++round) {
    const Facts facts = random_facts(random);
    const Plan plan = facts.plan();
    std::uint64_t bytes = 0;
    std::uint32_t starts = 0;
    for (const std::uint32_t circuit : plan.loads) bytes += facts.circuits[circuit].key_bytes;
    for (std::size_t i = 0; i < plan.jobs.size(); ++i) {
      const CircuitDemand& circuit = facts.circuits[facts.jobs[i].circuit];
      bytes += plan.jobs[i].starts * circuit.partition_bytes;
      starts += plan.jobs[i].starts;
      if (plan.jobs[i].starts > 0) REQUIRE(circuit.key == KeyPresence::kReady);
      REQUIRE(plan.jobs[i].starts <= facts.jobs[i].pending);
      const bool is_left = plan.jobs[i].starts < facts.jobs[i].pending;
      REQUIRE(is_left == (plan.jobs[i].wait != WaitReason::kNone));
    }
    REQUIRE(bytes <= facts.available_bytes);
    REQUIRE(starts <= facts.synthesis_slots);
    REQUIRE(starts <= facts.device_room);
  }
}

}  // namespace
}  // namespace vitrine::engine
