// SPDX-License-Identifier: Apache-2.0
#include "engine/partition_retry.h"

#include <utility>

#include "engine/device_eligibility.h"
#include "engine/device_health.h"
#include "engine/partition_release.h"
#include "engine/quantities.h"

namespace vitrine::engine {
namespace {

using shm::PartitionStage;
using shm::WaitReason;

// An invalid proof and a device error are; what the inputs did wrong, every device does.
bool is_fault_of_device(ErrorClass error_class) {
  return error_class == ErrorClass::kVerifyFailed || error_class == ErrorClass::kDeviceError;
}

bool is_to_be_retried(const EngineModel& model, const Partition& partition, const Error& error) {
  const bool is_second = partition.excluded_device.has_value();
  if (is_second || partition.job->failure || !partition.device) return false;
  if (!is_fault_of_device(error.error_class)) return false;
  DeviceDemand demand = demand_of(partition);
  demand.excluded = partition.device;
  return any_may_run(model.devices, demand);
}

void forget_attempt(Partition& partition) {
  partition.excluded_device = partition.device;
  partition.retry_cause = partition.failure_class;
  partition.failure_class.reset();
  partition.worker.reset();
  partition.device.reset();
  partition.synth_start = partition.synth_end = partition.gpu_queue = {};
  partition.gpu_pickup = partition.gpu_start = partition.gpu_end = {};
  ++partition.attempt;
}

void retry(Change& change, Partition& partition, const Error& error) {
  EngineModel& model = change.model();
  Job& job = *partition.job;
  partition.failure_class = error.error_class;
  change.log(partition, "partition begins again on another device", error.text,
             JournalLevel::kWarn);
  change.note_error({failure_class_of(error.error_class), error.text, job.id, partition.number,
                     partition.device});
  release_worker(change, partition, AttemptEnd::kFailure);
  partition.reserved.give_back_all();
  partition.key_use.end(change.now());
  forget_attempt(partition);
  set_stage(partition, PartitionStage::kPending, model.stages, change.now());
  partition.wait.turn_to({WaitReason::kCpu, change.now(), 0, 0});
  job.retries.push_back(partition.number);
  ++job.tally->partitions_retried;
  change.publish().partition_retried(partition);
}

std::string no_device_text(const EngineModel& model, const Partition& partition) {
  if (partition.excluded_device) {
    return "no other device is left to run it again, after device " +
           std::to_string(*partition.excluded_device) +
           " failed it: " + std::string(error_class_name(*partition.retry_cause));
  }
  return "needs " + size_text(demand_of(partition).bytes) +
         " of a device's memory; the most that a device which takes work has is " +
         size_text(largest_memory(model.devices).value_or(0));
}

}  // namespace

void put_back(Change& change, Partition& partition, std::unique_ptr<Synthesized> made,
              std::string_view why) {
  EngineModel& model = change.model();
  change.log(partition, why, {}, JournalLevel::kDebug);
  release_worker(change, partition, AttemptEnd::kStopped);
  partition.worker.reset();
  partition.device.reset();
  partition.gpu_pickup = {};
  partition.synthesized = std::move(made);
  set_stage(partition, PartitionStage::kGpuQueued, model.stages, change.now());
  partition.wait.turn_to({WaitReason::kDevice, change.now(), 0, 0});
  model.device_queue.push_front(&partition);
  change.publish().device_queued(partition);
}

Job* end_attempt(Change& change, Partition& partition, PartitionEnd end) {
  EngineModel& model = change.model();
  Device& device = model.devices[*partition.device];
  if (end.proof) {
    judge_proof(change, device);
  } else {
    judge_failure(change, device, partition, *end.error);
    if (is_to_be_retried(model, partition, *end.error)) {
      retry(change, partition, *end.error);
      return nullptr;
    }
  }
  return finish_partition(change, partition, std::move(end));
}

void fail_unless_placeable(Change& change, Partition& partition) {
  EngineModel& model = change.model();
  const bool waits =
      partition.stage == PartitionStage::kPending || partition.stage == PartitionStage::kGpuQueued;
  if (!waits || partition.job->failure || !any_takes_work(model.devices)) return;
  if (any_may_run(model.devices, demand_of(partition))) return;
  const ErrorClass error_class = partition.retry_cause.value_or(ErrorClass::kDeviceError);
  finish_partition(change, partition,
                   {nullptr, Error{error_class, no_device_text(model, partition)}});
}

}  // namespace vitrine::engine
