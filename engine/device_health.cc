// SPDX-License-Identifier: Apache-2.0
#include "engine/device_health.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/circuit_fault.h"
#include "engine/device_eligibility.h"
#include "engine/partition_retry.h"
#include "engine/quantities.h"

namespace vitrine::engine {
namespace {

using shm::DeviceState;

constexpr const char* kNoDevice = "no device takes work: jobs wait until one is released";
constexpr const char* kFellBack = "proving on the CPU: no other device takes work";

std::string times(std::uint32_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

bool is_others_work(const Device& device) { return !device.is_standby && device.is_trusted(); }

void turn(Change& change, const char* reason, bool holds) {
  holds ? change.degrade(reason) : change.recover(reason);
}

void review_standby(Change& change) {
  EngineModel& model = change.model();
  const bool others_work = std::ranges::any_of(model.devices, is_others_work);
  for (Device& device : model.devices) {
    if (!device.is_standby || device.stands_by == others_work) continue;
    device.stands_by = others_work;
    turn(change, kFellBack, !others_work);
    model.effective_backend = others_work ? model.devices.front().setup.kind : device.setup.kind;
    if (others_work) continue;
    ++model.backend_fallbacks;
    change.publish().backend_fell_back();
  }
}

// What follows from the states of all devices together.
void review(Change& change) {
  EngineModel& model = change.model();
  review_standby(change);
  turn(change, kNoDevice, !any_takes_work(model.devices));
  for (Circuit& circuit : model.keys.circuits()) judge_circuit(change, circuit);
  const std::vector<Job*> active = model.jobs.active();
  for (Job* job : active) {
    for (Partition& partition : job->partitions) fail_unless_placeable(change, partition);
  }
}

void enter(Change& change, Device& device, DeviceState state, const DegradedReason& why) {
  device.state = state;
  device.state_since = change.now();
  const std::string name = "device " + std::to_string(device.number);
  const std::string start = name + " is " + std::string(shm::word(state)) + ": ";
  const std::string fault = state == DeviceState::kUp ? "" : start + why.text;
  // The new one first: the engine is not well in between.
  if (!fault.empty()) change.degrade({fault, start + why.brief});
  if (!device.fault.empty()) change.recover(device.fault);
  device.fault = fault;
  if (fault.empty()) change.log("device up", name + ": " + why.text);
  change.publish().device_changed(device);
  review(change);
}

Device* device_that_failed_before(EngineModel& model, const Partition& partition) {
  if (partition.retry_cause != ErrorClass::kVerifyFailed) return nullptr;
  return &model.devices[*partition.excluded_device];
}

// What a second device repeats is the fault of the witness or the key: nobody is blamed for it.
void judge_invalid_proof(Change& change, Device& device, const Partition& partition) {
  if (Device* first = device_that_failed_before(change.model(), partition)) {
    if (first->is_trusted() && first->strikes > 0) --first->strikes;
    return;
  }
  ++device.strikes;
  if (device.strikes < kInvalidProofsToQuarantine || !device.is_trusted()) return;
  enter(change, device, DeviceState::kQuarantined, times(device.strikes, "invalid proof"));
}

void judge_device_error(Change& change, Device& device, const Error& error) {
  ++device.errors_in_row;
  if (!device.is_trusted()) return;
  const std::string row = times(device.errors_in_row, "error") + " in a row";
  const DegradedReason why(row + ", the last: " + error.text, row);
  if (device.errors_in_row >= kErrorsToLose) {
    enter(change, device, DeviceState::kLost, why);
  } else if (device.errors_in_row == kErrorsToDegrade) {
    enter(change, device, DeviceState::kDegraded, why);
  }
}

ThreadState* thread_of(EngineModel& model, const Worker& worker) {
  const auto found = std::ranges::find(model.threads, worker.number, &ThreadState::worker);
  return found == model.threads.end() ? nullptr : &*found;
}

// The worker whose kernels overrun; null when there is none.
Worker* hung_worker(EngineModel& model, const Device& device, shm::Instant now) {
  if (device.setup.kind == shm::Backend::kCpu || device.in_kernels == nullptr) return nullptr;
  Worker& worker = model.workers[*device.in_kernels->worker];
  const ThreadState* thread = thread_of(model, worker);
  const bool is_hung =
      thread != nullptr && thread->limit_ns != 0 && now.ns - thread->since.ns > thread->limit_ns;
  return is_hung ? &worker : nullptr;
}

// Its step is the lost device's from now on, not a hang of the engine.
void excuse_thread(Change& change, const Worker& worker) {
  EngineModel& model = change.model();
  ThreadState* thread = thread_of(model, worker);
  thread->limit_ns = 0;
  change.publish().thread_changed(static_cast<ThreadRow>(thread - model.threads.data()), *thread);
}

void lose_hung_device(Change& change, Device& device, Worker& worker) {
  EngineModel& model = change.model();
  const ThreadState& thread = *thread_of(model, worker);
  const std::string who = "its worker " + std::to_string(worker.number);
  const DegradedReason why(who + " has been " + std::string(thread.step) + " for more than " +
                               duration_setting(thread.limit_ns),
                           who + " does not answer");
  Partition& partition = *worker.partition;
  worker.abandoned.emplace(partition.job->circuit, std::move(partition.key_use),
                           partition.reserved.bytes());
  excuse_thread(change, worker);
  enter(change, device, DeviceState::kLost, why);
  const Error error{ErrorClass::kDeviceError, device.fault};
  end_attempt(change, partition, {nullptr, error});
  model.budget.withhold(worker.abandoned->withheld_bytes);
}

}  // namespace

void judge_proof(Change& change, Device& device) {
  device.errors_in_row = 0;
  if (device.state == DeviceState::kDegraded) enter(change, device, DeviceState::kUp, "a proof");
}

void judge_failure(Change& change, Device& device, const Partition& partition, const Error& error) {
  if (error.error_class == ErrorClass::kVerifyFailed) {
    judge_invalid_proof(change, device, partition);
  } else if (error.error_class == ErrorClass::kDeviceError) {
    judge_device_error(change, device, error);
  }
}

void lose_hung_devices(Change& change) {
  EngineModel& model = change.model();
  for (Device& device : model.devices) {
    Worker* worker = hung_worker(model, device, change.now());
    if (worker != nullptr) lose_hung_device(change, device, *worker);
  }
}

void take_late_answer(Change& change, Worker& worker) {
  EngineModel& model = change.model();
  ++model.stale_events;
  if (!worker.abandoned) return;
  model.budget.restore(worker.abandoned->withheld_bytes);
  worker.abandoned->key_use.end(change.now());
  change.publish().key_released(*worker.abandoned->circuit);
  worker.abandoned.reset();
  change.log("late answer ignored",
             "worker " + std::to_string(worker.number) + " of device " +
                 std::to_string(worker.device->number),
             JournalLevel::kWarn);
}

DeviceRelease release_device(Change& change, std::uint32_t number) {
  EngineModel& model = change.model();
  if (number >= model.devices.size()) return DeviceRelease::kUnknown;
  Device& device = model.devices[number];
  const bool is_stuck = std::ranges::any_of(model.workers, [&](const Worker& worker) {
    return worker.device == &device && worker.abandoned;
  });
  if (is_stuck) return DeviceRelease::kStuck;
  device.strikes = device.errors_in_row = 0;
  if (device.state != DeviceState::kUp) enter(change, device, DeviceState::kUp, "released");
  return DeviceRelease::kDone;
}

}  // namespace vitrine::engine
