// SPDX-License-Identifier: Apache-2.0
// What a scheduler sees, made by a test: by hand or at random.
#pragma once

#include <random>
#include <vector>

#include "engine/scheduler.h"

namespace vitrine::engine::testing {

struct Facts {
  std::vector<CircuitDemand> circuits;
  std::vector<JobDemand> jobs;
  std::uint64_t total_bytes = 1000;
  std::uint64_t available_bytes = 800;
  std::uint32_t synthesis_slots = 1;
  std::uint32_t device_room = 2;
  SchedulerView::Gate gate = SchedulerView::Gate::kOpen;
  std::uint32_t critical_room = 0;
  std::uint32_t loaders = 1;
  std::uint32_t critical_loaders = 0;
  std::uint64_t now_ns = 1000;
  SchedulerRules rules{};

  SchedulerView view() const {
    SchedulerView view{circuits, jobs, total_bytes, available_bytes, synthesis_slots, device_room};
    view.gate = gate;
    view.critical_room = critical_room;
    view.loaders = loaders;
    view.critical_loaders = critical_loaders;
    view.now_ns = now_ns;
    view.rules = rules;
    return view;
  }
  Plan plan() const {
    Plan made;
    make_plan(view(), made);
    return made;
  }
};

// A job of one partition, all of whose times are `since_ns`.
inline JobDemand demand(std::uint32_t circuit, shm::Priority priority, std::uint64_t since_ns = 0,
                        std::uint64_t deadline_ns = 0) {
  return {circuit, 1, {priority, deadline_ns, since_ns, since_ns}, 0};
}

inline Facts random_facts(std::mt19937& random) {
  Facts facts;
  facts.now_ns = 1000;
  std::uint64_t taken_bytes = 0;
  for (std::uint32_t i = 0, count = 1 + random() % 4; i < count; ++i) {
    CircuitDemand circuit{static_cast<KeyPresence>(random() % 4), random() % 300, random() % 300};
    circuit.is_kept = random() % 8 == 0;
    circuit.is_wanted = random() % 8 == 0;
    const bool may_be_used =
        circuit.key == KeyPresence::kReady || circuit.key == KeyPresence::kLeaving;
    if (may_be_used && random() % 2 == 0) circuit.references = 1 + random() % 3;
    circuit.idle_since_ns = random() % 1000;
    if (circuit.key != KeyPresence::kAbsent) taken_bytes += circuit.key_bytes;
    facts.circuits.push_back(circuit);
  }
  for (std::uint32_t i = 0, count = random() % 8; i < count; ++i) {
    JobDemand job;
    job.circuit = static_cast<std::uint32_t>(random() % facts.circuits.size());
    job.pending = 1 + static_cast<std::uint32_t>(random() % 5);
    job.urgency = {static_cast<shm::Priority>(1 + random() % 4), random() % 2 * (random() % 3000),
                   random() % 1000, random() % 1000};
    job.urgency.waiting_since_ns = std::max(job.urgency.waiting_since_ns, job.urgency.submitted_ns);
    facts.jobs.push_back(job);
  }
  facts.total_bytes = taken_bytes + random() % 1001;
  facts.available_bytes = random() % (facts.total_bytes - taken_bytes + 1);
  facts.synthesis_slots = random() % 4;
  facts.device_room = random() % 4;
  facts.critical_room = random() % 2;
  facts.loaders = random() % 3;
  facts.critical_loaders = random() % 2;
  facts.rules.starvation_limit_ns = random() % 2 * 500;
  facts.rules.eviction_min_idle_ns = random() % 2 * 500;
  facts.rules.max_batch_size = 1 + random() % 3;
  facts.rules.max_batch_wait_ns = random() % 1500;
  return facts;
}

}  // namespace vitrine::engine::testing
