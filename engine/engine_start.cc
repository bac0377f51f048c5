// SPDX-License-Identifier: Apache-2.0
#include "engine/engine_start.h"

#include <sched.h>

#include <algorithm>

#include "engine/backend_choice.h"
#include "engine/device_setup.h"
#include "engine/host_group.h"
#include "engine/host_memory.h"
#include "engine/kind_tallies.h"
#include "engine/live_settings.h"
#include "engine/quantities.h"
#include "kernels/kernel_path.h"
#include "shm/clock.h"
#include "shm/paths.h"
#include "shm/segment_plan_writer.h"

namespace vitrine::engine {
namespace {

constexpr std::int64_t kStartOf2026UnixMs = 1'767'225'600'000;

// What jobs and keys may reserve. The process's own bytes come out of the safety margin of an
// automatic budget; a configured one bounds the whole process.
StartResult<std::uint64_t> budget_of(const Configuration& configuration,
                                     std::uint64_t process_bytes) {
  if (configuration.memory_budget_bytes) {
    const std::uint64_t whole = *configuration.memory_budget_bytes;
    if (process_bytes < whole) return whole - process_bytes;
    return StartFailure{StartFailure::Kind::kUsage,
                        "memory_budget = " + size_text(whole) + " leaves nothing beside the " +
                            size_text(process_bytes) + " of the process itself"};
  }
  const std::uint64_t limit = memory_limit_bytes();
  const std::uint64_t margin = configuration.memory_safety_margin_bytes;
  if (margin < limit) return limit - margin;
  return StartFailure{StartFailure::Kind::kUsage, "memory_safety_margin = " + size_text(margin) +
                                                      " leaves nothing of the " + size_text(limit) +
                                                      " that this process may use"};
}

void add_workers(EngineModel& model) {
  for (Device& device : model.devices) {
    device.state_since = model.facts.started;
    for (std::uint32_t i = 0; i < device.workers; ++i) {
      Worker& worker = model.workers.emplace_back();
      worker.number = static_cast<std::uint32_t>(model.workers.size() - 1);
      worker.device = &device;
      worker.since = model.facts.started;
    }
  }
}

// In the order in which the engine starts them.
void add_threads(EngineModel& model, const EngineOptions& options) {
  const auto add = [&model](std::string name) -> ThreadState& {
    ThreadState& thread = model.threads.emplace_back();
    thread.name = std::move(name);
    thread.since = model.facts.started;
    return thread;
  };
  for (std::uint32_t i = 0; i < model.facts.key_loaders + kCriticalLoaders; ++i) {
    add("key-loader-" + std::to_string(i));
  }
  add("key-evictor");
  add("alarm");
  for (std::uint32_t i = 0; i < model.facts.synthesis_limit; ++i) {
    add("synthesis-" + std::to_string(i));
  }
  for (const Worker& worker : model.workers) {
    add("worker-" + std::to_string(worker.number)).worker = worker.number;
  }
  if (options.store == nullptr) return;
  model.store_thread = static_cast<ThreadRow>(model.threads.size());
  add("job-store");
}

// Devices that are given are what was asked for.
BackendChoice backend_of(const EngineOptions& options) {
  const shm::Backend requested = options.configuration.backend;
  if (options.devices.empty()) return choose_backend(requested, probe_gpu());
  return {requested, options.devices.front().kind, {}};
}

void fill_facts(EngineModel& model, const EngineOptions& options) {
  const Configuration& configuration = options.configuration;
  const BackendChoice choice = backend_of(options);
  model.facts.requested_backend = choice.requested;
  model.effective_backend = choice.effective;
  model.facts.kernel_path = kernels::kernel_path_name();
  model.facts.started = {shm::monotonic_ns()};
  model.facts.synthesis_limit = configuration.synthesis_concurrency;
  model.facts.key_loaders = configuration.key_loaders;
  apply_live_settings(model, configuration);
  if (!choice.fallback.empty()) model.degraded.add(choice.fallback);
  model.backend_fallbacks = choice.fallback.empty() ? 0 : 1;
}

}  // namespace

std::uint64_t process_bytes() { return resident_bytes() + shm::plan_segment({}).total_bytes; }

std::vector<std::string> host_complaints(const Configuration& configuration) {
  std::vector<std::string> complaints;
  for (const auto& [setting, name] : {std::pair{"shm_group", &configuration.shm_group},
                                      {"socket_group", &configuration.socket_group}}) {
    const auto group = find_group(setting, *name);
    if (!group) complaints.push_back(group.error().text);
  }
  const auto budget_bytes = budget_of(configuration, process_bytes());
  if (!budget_bytes) complaints.push_back(budget_bytes.error().text);
  if (auto complaint = split_complaint(configuration, kernel_threads(configuration)))
    complaints.push_back(*complaint);
  return complaints;
}

unsigned kernel_threads(const Configuration& configuration) {
  return configuration.threads != 0 ? configuration.threads : usable_threads();
}

unsigned usable_threads() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return 1;
  return std::max(1, CPU_COUNT(&allowed));
}

JobId first_job_id(std::int64_t unix_ns) {
  return static_cast<JobId>(std::max<std::int64_t>(0, unix_ns / 1'000'000 - kStartOf2026UnixMs));
}

StartResult<Publication> publish_segment(const EngineOptions& options) {
  const Configuration& configuration = options.configuration;
  shm::SegmentOptions segment;
  segment.instance = configuration.instance;
  segment.path = configuration.segment.empty() ? shm::default_segment_path(configuration.instance)
                                               : configuration.segment;
  segment.engine_version = VITRINE_VERSION;
  segment.api_socket_path = options.api_socket;
  segment.capacity = options.capacity;
  segment.mode = configuration.shm_mode;
  const auto group = find_group("shm_group", configuration.shm_group);
  if (!group) return group.error();
  segment.group = *group;
  auto named = shm::SegmentWriter::publish_named(segment);
  if (named) {
    std::string obstacle = named->reader_obstacle();
    return Publication{std::move(*named), std::move(obstacle)};
  }
  if (named.error().kind == shm::ErrorKind::kInUse) return start_failure_of(named.error());
  return Publication{shm::SegmentWriter::in_private_memory(segment),
                     "the status is not shared: " + named.error().text};
}

StartResult<std::unique_ptr<EngineModel>> make_model(const EngineOptions& options,
                                                     unsigned threads) {
  const Configuration& configuration = options.configuration;
  const auto budget_bytes = budget_of(configuration, options.process_bytes);
  if (!budget_bytes) return budget_bytes.error();
  if (auto complaint = split_complaint(configuration, kernel_threads(configuration))) {
    return StartFailure{StartFailure::Kind::kUsage, *complaint};
  }
  std::vector<Device> devices = make_devices(options, threads);
  auto model = std::make_unique<EngineModel>(
      *budget_bytes, ProvingKeyCache(configuration.circuits, most_threads(devices)),
      options.capacity);
  fill_facts(*model, options);
  model->devices = std::move(devices);
  add_workers(*model);
  add_threads(*model, options);
  for (Circuit& circuit : model->keys.circuits()) {
    circuit.srs.settle(circuit.srs.state(), model->facts.started);
    circuit.pce.settle(circuit.pce.state(), model->facts.started);
    circuit.kind_row = kind_row(*model, circuit.configuration.kind);
  }
  return model;
}

}  // namespace vitrine::engine
