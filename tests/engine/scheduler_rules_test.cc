// SPDX-License-Identifier: Apache-2.0
// The scheduler's rules as properties, held to by random views.
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

#include "engine/scheduler.h"
#include "tests/engine/scheduler_facts.h"

namespace vitrine::engine::testing {
namespace {

using shm::Priority;
using shm::WaitReason;
using Turn = JobPlan::Turn;

constexpr int kRounds = 20'000;

template <class Rule>
void hold_to(Rule rule) {
  const auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < kRounds; ++round) rule(random_facts(random));
}

std::uint32_t starts_of(const Plan& plan) {
  std::uint32_t starts = 0;
  for (const JobPlan& job : plan.jobs) starts += job.starts;
  return starts;
}

bool is_critical(const Facts& facts, std::uint32_t job) {
  return facts.jobs[job].urgency.priority == Priority::kCritical;
}

TEST_CASE("no plan spends what is not there") {
  hold_to([](const Facts& facts) {
    const Plan plan = facts.plan();
    std::uint64_t bytes = 0;
    std::uint32_t starts = 0, ordinary_starts = 0, ordinary_loads = 0;
    for (const Plan::Load& load : plan.loads) {
      bytes += facts.circuits[load.circuit].key_bytes;
      ordinary_loads += !load.job || !is_critical(facts, *load.job);
    }
    for (std::uint32_t i = 0; i < plan.jobs.size(); ++i) {
      bytes += plan.jobs[i].starts * facts.circuits[facts.jobs[i].circuit].partition_bytes;
      starts += plan.jobs[i].starts;
      if (!is_critical(facts, i)) ordinary_starts += plan.jobs[i].starts;
    }
    REQUIRE(bytes <= facts.available_bytes);
    REQUIRE(starts <= facts.synthesis_slots);
    REQUIRE(starts <= facts.device_room + facts.critical_room);
    REQUIRE(ordinary_starts <= facts.device_room);
    REQUIRE(plan.loads.size() <= facts.loaders + facts.critical_loaders);
    REQUIRE(ordinary_loads <= facts.loaders);
  });
}

TEST_CASE("every job that is left waits for something, and none starts without its key") {
  hold_to([](const Facts& facts) {
    const Plan plan = facts.plan();
    for (std::size_t i = 0; i < plan.jobs.size(); ++i) {
      const JobPlan& job = plan.jobs[i];
      const CircuitDemand& circuit = facts.circuits[facts.jobs[i].circuit];
      if (job.starts > 0) REQUIRE(circuit.key == KeyPresence::kReady);
      REQUIRE(job.starts <= facts.jobs[i].pending);
      REQUIRE((job.starts < facts.jobs[i].pending) == (job.wait != WaitReason::kNone));
      REQUIRE((job.turn == Turn::kHeld) == (job.wait == WaitReason::kBatch));
      if (job.turn == Turn::kStarted) REQUIRE(job.starts > 0);
    }
    std::uint32_t listed = 0;
    for (const Plan::Start& start : plan.starts) listed += start.partitions;
    REQUIRE(listed == starts_of(plan));
  });
}

// Without batches and overdue jobs, of which tables tell.
TEST_CASE("nobody gets memory, a slot or a loader that someone more urgent waits for") {
  hold_to([](Facts facts) {
    facts.rules.max_batch_size = 1;
    facts.rules.starvation_limit_ns = 0;
    const Plan plan = facts.plan();
    for (std::size_t i = 0; i < plan.jobs.size(); ++i) {
      for (std::size_t j = 0; j < plan.jobs.size(); ++j) {
        const Urgency first = plain_urgency_of(facts.jobs[i].urgency);
        if (!first.comes_before(plain_urgency_of(facts.jobs[j].urgency))) continue;
        const WaitReason wait = plan.jobs[i].wait;
        const bool closes =
            wait == WaitReason::kMemory || wait == WaitReason::kCpu || wait == WaitReason::kDevice;
        if (closes && plan.jobs[i].turn != Turn::kCannotFit) REQUIRE(plan.jobs[j].starts == 0);
        const bool loads = std::any_of(plan.loads.begin(), plan.loads.end(),
                                       [&](const Plan::Load& load) { return load.job == j; });
        if (!loads || plan.jobs[i].turn == Turn::kCannotFit) continue;
        REQUIRE(wait != WaitReason::kMemory);
        const std::uint32_t circuit = facts.jobs[i].circuit;
        const bool was_passed =
            wait == WaitReason::kSrs && facts.circuits[circuit].key == KeyPresence::kAbsent &&
            std::none_of(plan.loads.begin(), plan.loads.end(),
                         [&](const Plan::Load& load) { return load.circuit == circuit; });
        REQUIRE_FALSE(was_passed);
      }
    }
  });
}

TEST_CASE("starts are listed by urgency") {
  hold_to([](Facts facts) {
    facts.rules.max_batch_size = 1;
    const UrgencyClock clock{facts.now_ns, facts.rules.starvation_limit_ns};
    const Plan plan = facts.plan();
    std::set<std::uint32_t> seen;
    std::optional<Urgency> before;
    for (const Plan::Start& start : plan.starts) {
      const UrgencyFacts& job = facts.jobs[start.job].urgency;
      // An overdue job starts one partition as such, the others like everybody.
      const Urgency now =
          seen.insert(start.job).second ? urgency_of(job, clock) : plain_urgency_of(job);
      if (before) REQUIRE_FALSE(now.comes_before(*before));
      before = now;
    }
  });
}

TEST_CASE("only unused keys that are not kept are evicted, and only if that makes room") {
  hold_to([](const Facts& facts) {
    const Plan plan = facts.plan();
    std::uint64_t bytes = 0;
    for (const std::uint32_t number : plan.evictions) {
      const CircuitDemand& circuit = facts.circuits[number];
      REQUIRE(circuit.key == KeyPresence::kReady);
      REQUIRE(circuit.references == 0);
      REQUIRE_FALSE(circuit.is_kept);
      REQUIRE(circuit.idle_since_ns + facts.rules.eviction_min_idle_ns <= facts.now_ns);
      bytes += circuit.key_bytes;
    }
    REQUIRE(std::set(plan.evictions.begin(), plan.evictions.end()).size() == plan.evictions.size());
    if (plan.evictions.empty()) return;
    for (std::size_t i = 0; i < plan.jobs.size(); ++i) {
      if (plan.jobs[i].wait == WaitReason::kMemory) return;
    }
    // Nor for a key that is wanted, but is not there.
    for (std::uint32_t number = 0; number < facts.circuits.size(); ++number) {
      const CircuitDemand& circuit = facts.circuits[number];
      if (circuit.is_wanted && circuit.key == KeyPresence::kAbsent) return;
    }
    FAIL("evicted for nobody");
  });
}

TEST_CASE("more bytes, slots or room never start less") {
  hold_to([](Facts facts) {
    const std::uint32_t before = starts_of(facts.plan());
    Facts more = facts;
    more.available_bytes += 200;
    REQUIRE(starts_of(more.plan()) >= before);
    more = facts;
    ++more.synthesis_slots;
    REQUIRE(starts_of(more.plan()) >= before);
    more = facts;
    ++more.device_room;
    REQUIRE(starts_of(more.plan()) >= before);
  });
}

TEST_CASE("before the time that a plan names, time changes nothing") {
  hold_to([](Facts facts) {
    const Plan plan = facts.plan();
    if (!plan.evictions.empty()) return;  // carrying it out changes the facts at once
    facts.now_ns = plan.wake_at_ns == 0 ? facts.now_ns + 1'000'000 : plan.wake_at_ns - 1;
    const Plan later = facts.plan();
    REQUIRE(later.evictions == plan.evictions);
    REQUIRE(later.starts.size() == plan.starts.size());
    for (std::size_t i = 0; i < plan.jobs.size(); ++i) {
      REQUIRE(later.jobs[i].starts == plan.jobs[i].starts);
      REQUIRE(later.jobs[i].wait == plan.jobs[i].wait);
      REQUIRE(later.jobs[i].batch == plan.jobs[i].batch);
    }
  });
}

// Carries plans out: what starts or loads ends in a random order.
class PlannedEngine {
 public:
  PlannedEngine(Facts facts, std::mt19937& random) : facts_(std::move(facts)), random_(random) {
    facts_.total_bytes = facts_.available_bytes = 1000;
    facts_.synthesis_slots = facts_.device_room = facts_.loaders = 2;
    for (CircuitDemand& circuit : facts_.circuits) {
      circuit = {KeyPresence::kAbsent, circuit.key_bytes, circuit.partition_bytes};
    }
  }

  // Steps until nothing is left; fails the test when nothing goes on.
  void run_dry() {
    while (!facts_.jobs.empty()) {
      Plan plan;
      SchedulerView view = facts_.view();
      view.last_batch = last_batch_;
      make_plan(view, plan);
      const bool did_something = carry_out(plan);
      if (end_one() || did_something) continue;
      REQUIRE(plan.wake_at_ns > facts_.now_ns);
      facts_.now_ns = plan.wake_at_ns;
    }
  }

 private:
  bool carry_out(const Plan& plan) {
    last_batch_ = plan.last_batch;
    for (const Plan::Load& load : plan.loads) {
      facts_.circuits[load.circuit].key = KeyPresence::kLoading;
      facts_.available_bytes -= facts_.circuits[load.circuit].key_bytes;
      --facts_.loaders;
      loading_.push_back(load.circuit);
    }
    for (const std::uint32_t number : plan.evictions) {
      facts_.circuits[number].key = KeyPresence::kAbsent;
      facts_.available_bytes += facts_.circuits[number].key_bytes;
    }
    for (std::size_t i = 0; i < plan.jobs.size(); ++i) start(facts_.jobs[i], plan.jobs[i]);
    std::erase_if(facts_.jobs, [](const JobDemand& job) { return job.pending == 0; });
    return !plan.starts.empty() || !plan.loads.empty() || !plan.evictions.empty();
  }

  void start(JobDemand& job, const JobPlan& plan) {
    job.batch = plan.batch;
    job.pending -= plan.starts;
    CircuitDemand& circuit = facts_.circuits[job.circuit];
    for (std::uint32_t i = 0; i < plan.starts; ++i) {
      running_.push_back(job.circuit);
      ++circuit.references;
      --facts_.synthesis_slots;
      --facts_.device_room;
      facts_.available_bytes -= circuit.partition_bytes;
      job.urgency.waiting_since_ns = facts_.now_ns;
    }
  }

  bool end_one() {
    if (running_.empty() && loading_.empty()) return false;
    ++facts_.now_ns;
    std::vector<std::uint32_t>& from =
        running_.empty() || (random_() % 2 == 0 && !loading_.empty()) ? loading_ : running_;
    const std::size_t at = random_() % from.size();
    CircuitDemand& circuit = facts_.circuits[from[at]];
    from.erase(from.begin() + static_cast<std::ptrdiff_t>(at));
    circuit.idle_since_ns = facts_.now_ns;
    if (&from == &loading_) {
      circuit.key = KeyPresence::kReady;
      ++facts_.loaders;
      return true;
    }
    --circuit.references;
    ++facts_.synthesis_slots;
    ++facts_.device_room;
    facts_.available_bytes += circuit.partition_bytes;
    return true;
  }

  Facts facts_;
  std::mt19937& random_;
  std::vector<std::uint32_t> running_, loading_;
  std::uint64_t last_batch_ = 0;
};

TEST_CASE("plans that are carried out finish every job") {
  const auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 2'000; ++round) {
    Facts facts = random_facts(random);
    for (std::uint32_t i = 0; i < 20; ++i) {
      const auto circuit = static_cast<std::uint32_t>(random() % facts.circuits.size());
      facts.jobs.push_back(demand(circuit, static_cast<Priority>(1 + random() % 4), i));
      facts.jobs.back().pending = 1 + random() % 4;
    }
    PlannedEngine(std::move(facts), random).run_dry();
  }
}

}  // namespace
}  // namespace vitrine::engine::testing
