// SPDX-License-Identifier: Apache-2.0
#include "engine/partition_release.h"

#include <algorithm>

namespace vitrine::engine {
namespace {

void leave_line(std::deque<Partition*>& line, const Partition& partition) {
  const auto at = std::ranges::find(line, &partition);
  if (at != line.end()) line.erase(at);
}

void count_end(Worker& worker, const Partition& partition, AttemptEnd end) {
  Device& device = *worker.device;
  if (end == AttemptEnd::kProof) {
    ++worker.partitions_done;
    ++device.proofs;
  } else if (end == AttemptEnd::kFailure) {
    ++worker.partitions_failed;
    ++device.failures;
    if (partition.failure_class == ErrorClass::kVerifyFailed) ++device.proofs_invalid;
  }
}

}  // namespace

void leave_lines(EngineModel& model, const Partition& partition) {
  leave_line(model.granted, partition);
  leave_line(model.device_queue, partition);
}

void release_worker(Change& change, Partition& partition, AttemptEnd end) {
  if (!partition.worker) return;
  EngineModel& model = change.model();
  Worker& worker = model.workers[*partition.worker];
  if (worker.partition != &partition) return;
  Device& device = *worker.device;
  if (device.in_kernels == &partition) device.in_kernels = nullptr;
  worker.partition = nullptr;
  worker.since = change.now();
  worker.busy_ns += change.now().ns - partition.gpu_pickup.ns;
  count_end(worker, partition, end);
  change.publish().worker_changed(worker, model);
  change.publish().device_changed(device);
}

}  // namespace vitrine::engine
