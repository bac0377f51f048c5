// SPDX-License-Identifier: Apache-2.0
#include "engine/device_choice.h"

#include "engine/device_eligibility.h"

namespace vitrine::engine {
namespace {

Urgency urgency_of(const EngineModel& model, const Partition& partition, shm::Instant now) {
  const Job& job = *partition.job;
  return engine::urgency_of(
      {job.priority, job.deadline.ns, job.submitted.ns, partition.gpu_queue.ns},
      {now.ns, model.facts.rules.starvation_limit_ns});
}

bool is_critical(const Partition& partition) {
  return partition.job->priority == shm::Priority::kCritical;
}

bool waits_for_kernels(const Worker& worker) {
  return worker.partition != nullptr && !worker.partition->gpu_start.is_set();
}

}  // namespace

Partition* next_for_device(const EngineModel& model, const Worker& worker, shm::Instant now) {
  Partition* next = nullptr;
  for (Partition* queued : model.device_queue) {
    if (!may_run(*worker.device, demand_of(*queued))) continue;
    const bool comes_first =
        next == nullptr ||
        urgency_of(model, *queued, now).comes_before(urgency_of(model, *next, now));
    if (comes_first) next = queued;
  }
  return next;
}

bool may_begin_kernels(const EngineModel& model, const Worker& worker, shm::Instant now) {
  if (worker.device->in_kernels != nullptr) return false;
  const Urgency own = urgency_of(model, *worker.partition, now);
  for (const Worker& other : model.workers) {
    const bool competes =
        &other != &worker && other.device == worker.device && waits_for_kernels(other);
    if (competes && urgency_of(model, *other.partition, now).comes_before(own)) return false;
  }
  return true;
}

bool is_overtaken(const EngineModel& model, const Worker& worker, shm::Instant now) {
  if (is_critical(*worker.partition)) return false;
  const Partition* next = next_for_device(model, worker, now);
  return next != nullptr && is_critical(*next);
}

}  // namespace vitrine::engine
