// SPDX-License-Identifier: Apache-2.0
#include "engine/live_settings.h"

#include <algorithm>
#include <array>

namespace vitrine::engine {

bool is_live(std::string_view setting) {
  constexpr std::array<std::string_view, 12> kLive = {
      "device_queue_capacity", "job_queue_capacity", "eviction_min_idle", "starvation_limit",
      "max_batch_size",        "max_batch_wait",     "drain_timeout",     "step_limit",
      "witness_directories",   "result_retention",   "result_limit",      "log_level"};
  return std::ranges::find(kLive, setting) != kLive.end();
}

void apply_live_settings(EngineModel& model, const Configuration& configuration) {
  model.facts.device_queue_capacity = configuration.device_queue_capacity;
  model.facts.job_queue_capacity = configuration.job_queue_capacity;
  model.facts.rules = {configuration.starvation_limit_ns, configuration.eviction_min_idle_ns,
                       configuration.max_batch_size, configuration.max_batch_wait_ns};
  model.facts.step_limit_ns = configuration.step_limit_ns;
}

}  // namespace vitrine::engine
