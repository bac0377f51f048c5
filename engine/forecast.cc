// SPDX-License-Identifier: Apache-2.0
#include "engine/forecast.h"

#include <algorithm>

namespace vitrine::engine {
namespace {

constexpr std::uint64_t kWeight = 8;  // of what was there before, and one more of what is new

void learn_one(std::uint64_t& mean_ns, std::uint64_t measured_ns) {
  mean_ns = mean_ns == 0 ? measured_ns : (mean_ns * (kWeight - 1) + measured_ns) / kWeight;
}

class Forecaster {
 public:
  explicit Forecaster(const ForecastFacts& facts)
      : facts_(facts),
        slots_(std::max(facts.slots, 1U), facts.now_ns),
        devices_(facts.devices, facts.now_ns),
        ends_(facts.jobs.size(), facts.now_ns) {}

  std::vector<std::uint64_t> run() {
    using Place = ForecastWork::Place;
    for (const Place place : {Place::kDevice, Place::kQueue, Place::kSlot}) {
      for (const ForecastWork& work : facts_.work) {
        if (work.place == place) carry_on(work);
      }
    }
    for (std::uint32_t job = 0; job < facts_.jobs.size(); ++job) begin_pending(job);
    return std::move(ends_);
  }

 private:
  const ForecastCircuit& circuit_of(std::uint32_t job) const {
    return facts_.circuits[facts_.jobs[job].circuit];
  }

  // Neither this job's end nor when the work after it may begin can be told.
  void give_up(std::uint32_t job) {
    is_lost_ = true;
    ends_[job] = 0;
  }

  void carry_on(const ForecastWork& work) {
    const PartitionPace& pace = circuit_of(work.job).pace;
    if (is_lost_ || devices_.empty() || !pace.is_known()) return give_up(work.job);
    if (work.place == ForecastWork::Place::kDevice) {
      return use_device(work.job, work.since_ns, pace);
    }
    if (work.place == ForecastWork::Place::kQueue) {
      return use_device(work.job, facts_.now_ns, pace);
    }
    auto slot = std::min_element(slots_.begin(), slots_.end());
    *slot = std::max(facts_.now_ns, work.since_ns + pace.cpu_ns);
    use_device(work.job, *slot, pace);
  }

  void begin_pending(std::uint32_t job) {
    const ForecastCircuit& circuit = circuit_of(job);
    const bool is_known = circuit.pace.is_known() && circuit.key_ready_ns != 0;
    for (std::uint32_t i = 0; i < facts_.jobs[job].pending; ++i) {
      if (is_lost_ || facts_.is_paused || devices_.empty() || !is_known) return give_up(job);
      auto slot = std::min_element(slots_.begin(), slots_.end());
      *slot = std::max(*slot, circuit.key_ready_ns) + circuit.pace.cpu_ns;
      use_device(job, *slot, circuit.pace);
    }
  }

  // A partition that is ready for a device since `ready_ns`.
  void use_device(std::uint32_t job, std::uint64_t ready_ns, const PartitionPace& pace) {
    auto device = std::min_element(devices_.begin(), devices_.end());
    // One that is on it already began before now.
    const std::uint64_t begin_ns =
        ready_ns < facts_.now_ns ? ready_ns : std::max(*device, ready_ns);
    *device = std::max(facts_.now_ns, begin_ns + pace.device_ns);
    if (ends_[job] != 0) ends_[job] = std::max(ends_[job], *device + pace.rest_ns);
  }

  const ForecastFacts& facts_;
  std::vector<std::uint64_t> slots_, devices_;  // when each is free
  std::vector<std::uint64_t> ends_;
  bool is_lost_ = false;
};

}  // namespace

void PartitionPace::learn(const PartitionPace& measured) {
  learn_one(cpu_ns, measured.cpu_ns);
  learn_one(device_ns, std::max<std::uint64_t>(measured.device_ns, 1));
  learn_one(rest_ns, measured.rest_ns);
}

std::vector<std::uint64_t> forecast_ends(const ForecastFacts& facts) {
  return Forecaster(facts).run();
}

}  // namespace vitrine::engine
