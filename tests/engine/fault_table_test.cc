// SPDX-License-Identifier: Apache-2.0
// One fault at each place of the way, in the first, a middle and the last partition of a job: what
// the job says, and that nothing is left behind.
#include <catch2/catch.hpp>
#include <map>
#include <stdexcept>

#include "tests/engine/container_bytes.h"
#include "tests/engine/device_scripts.h"

namespace vitrine::engine::testing {
namespace {

using shm::FailureClass;
using shm::JobState;
using shm::PartitionStage;

constexpr unsigned kPartitions = 5;
constexpr std::uint64_t kIdleWithinNs = 100'000'000;

enum class Place { kParse, kKeyLoad, kSynthesis, kStart, kFinish, kVerify, kException };

struct Expected {
  FailureClass failure_class;
  PartitionStage stage;
  bool on_device;
};

const std::map<Place, Expected> kExpected = {
    {Place::kParse, {FailureClass::kBadInput, PartitionStage::kSynthesizing, false}},
    {Place::kKeyLoad, {FailureClass::kInternal, PartitionStage::kPending, false}},
    {Place::kSynthesis, {FailureClass::kOutOfMemory, PartitionStage::kSynthesizing, false}},
    {Place::kStart, {FailureClass::kDeviceError, PartitionStage::kGpuProving, true}},
    {Place::kFinish, {FailureClass::kDeviceError, PartitionStage::kFinishing, true}},
    {Place::kVerify, {FailureClass::kVerifyFailed, PartitionStage::kFinishing, true}},
    {Place::kException, {FailureClass::kInternal, PartitionStage::kFinishing, true}}};

Result<void> out_of_memory() { return Error{ErrorClass::kOutOfMemory, "no memory"}; }
Result<void> thrown() { throw std::runtime_error("a broken stage"); }

// The stages are called in the order of the partitions: there is one of each thread.
ScriptedBackend::Script script_for(Place place, unsigned victim) {
  const std::map<Place, std::pair<ScriptedStage, Result<void> (*)()>> faults = {
      {Place::kSynthesis, {ScriptedStage::kSynthesize, out_of_memory}},
      {Place::kStart, {ScriptedStage::kStart, device_error}},
      {Place::kFinish, {ScriptedStage::kFinish, device_error}},
      {Place::kVerify, {ScriptedStage::kVerify, wrong_proof}},
      {Place::kException, {ScriptedStage::kFinish, thrown}}};
  const auto fault = faults.find(place);
  if (fault == faults.end()) return nothing_special();
  return [stage = fault->second.first, happen = fault->second.second, victim](ScriptedStage now,
                                                                              unsigned call) {
    return now == stage && call == victim ? happen() : Result<void>();
  };
}

// With a witness that cannot be parsed in the place of the victim, for that fault.
JobRequest request_for(Place place, unsigned victim) {
  JobRequest request;
  request.circuit = "demo";
  for (unsigned number = 0; number < kPartitions; ++number) {
    const bool is_bad = place == Place::kParse && number == victim;
    const auto folder = circuit_folder("bn128", is_bad ? "multiplier" : "demo");
    request.witnesses.push_back({folder / "witness.1.wtns", nullptr});
  }
  return request;
}

void check_failed_once(const JobStatus& status, Place place, unsigned victim) {
  const Expected& expected = kExpected.at(place);
  // A key is nobody's of the partitions: the first that waits for it is named.
  const unsigned named = place == Place::kKeyLoad ? 0 : victim;
  CHECK(status.record.state == JobState::kFailed);
  CHECK(status.record.failure_class == expected.failure_class);
  CHECK(status.record.failure_stage == expected.stage);
  CHECK(status.record.failure_partition == shm::Index::of(named));
  CHECK(status.record.failure_device.is_set() == expected.on_device);
  CHECK(status.record.partitions_failed == 1);
  CHECK(status.record.partitions_done + status.record.partitions_cancelled == kPartitions - 1);
}

void check_worker_idle_soon(EngineFixture& fixture, JobId id) {
  const shm::Snapshot idle = fixture.snapshot_when([](const shm::Snapshot& now) {
    return std::ranges::all_of(now.rows<shm::WorkerRecord>(), [](const auto& worker) {
      return worker.state == shm::WorkerState::kIdle;
    });
  });
  const std::uint64_t finished_ns = job_row(idle, id).finished.ns;
  for (const auto& worker : idle.rows<shm::WorkerRecord>()) {
    CHECK(worker.since.ns <= finished_ns + kIdleWithinNs);
  }
}

TEST_CASE("one fault anywhere fails one job once, with class, stage, partition and device",
          "[E3]") {
  const Place place = GENERATE(Place::kParse, Place::kKeyLoad, Place::kSynthesis, Place::kStart,
                               Place::kFinish, Place::kVerify, Place::kException);
  const unsigned victim = GENERATE(0U, kPartitions / 2, kPartitions - 1);
  CAPTURE(static_cast<int>(place), victim);
  std::atomic<unsigned> loads{0};
  EngineFixture fixture(script_for(place, victim), [&](EngineOptions& options) {
    options.configuration.workers_per_device = 1;
    options.key_reader = [&](const auto& path, const auto& how,
                             auto& threads) -> Result<std::shared_ptr<const ProvingKey>> {
      if (place == Place::kKeyLoad && loads.fetch_add(1) == 0) return bad_input("a bad point");
      return load_proving_key(path, how, threads);
    };
  });
  const JobId id = fixture.engine().submit(request_for(place, victim)).value();
  check_failed_once(fixture.final_status(id), place, victim);
  check_worker_idle_soon(fixture, id);
  CHECK(fixture.final_status(fixture.submitted("demo", 2)).record.state == JobState::kDone);
  const auto kind = fixture.snapshot().rows<shm::CountersRecord>().at(0);
  CHECK(kind.failed == 1);
  CHECK(kind.partitions_failed == 1);
  CHECK(kind.partitions_retried == 0);
  fixture.check_quiet();
}

TEST_CASE("with two devices what both fail fails the job once, at its second attempt", "[E3]") {
  const auto stage =
      GENERATE(ScriptedStage::kStart, ScriptedStage::kFinish, ScriptedStage::kVerify);
  EngineFixture fixture(
      {}, with_devices(devices_with_one_script(2, [stage](ScriptedStage now, unsigned call) {
        if (now != stage || call >= 2) return Result<void>();
        return stage == ScriptedStage::kVerify ? wrong_proof() : device_error();
      })));
  const JobStatus status = fixture.final_status(fixture.submitted("demo", 1));
  CHECK(status.record.state == JobState::kFailed);
  CHECK(status.record.failure_partition == shm::Index::of(0));
  CHECK(status.record.failure_device.is_set());
  CHECK(fixture.snapshot().partitions_of(status.record.job).at(0).attempt == 2);
  CHECK(fixture.final_status(fixture.submitted("demo", 1)).record.state == JobState::kDone);
  fixture.check_quiet();
}

TEST_CASE("an allocation that fails on a device is no fault of the device", "[E15]") {
  EngineFixture fixture(
      {}, with_devices(devices_with_one_script(2, [](ScriptedStage stage, unsigned call) {
        return stage == ScriptedStage::kStart && call < 6 ? out_of_memory() : Result<void>();
      })));
  for (int i = 0; i < 6; ++i) {
    const JobStatus status = fixture.final_status(fixture.submitted("demo", 1));
    CHECK(status.record.failure_class == FailureClass::kOutOfMemory);
  }
  const shm::Snapshot seen = fixture.snapshot();
  CHECK(seen.rows<shm::CountersRecord>().at(0).partitions_retried == 0);
  CHECK(seen.life == shm::EngineLife::kReady);
  CHECK(fixture.final_status(fixture.submitted("demo", 1)).record.state == JobState::kDone);
}

struct BackendCase {
  shm::Backend requested;
  std::uint64_t fallbacks;
};

TEST_CASE("the backend that works, the one asked for and a fallback are shown as they are",
          "[E15]") {
  const auto [requested, fallbacks] =
      GENERATE(BackendCase{shm::Backend::kCpu, 0}, BackendCase{shm::Backend::kCuda, 1});
  EngineFixture fixture({}, [requested = requested](EngineOptions& options) {
    options.configuration.backend = requested;
  });
  const shm::Snapshot seen = fixture.snapshot();
  CHECK(seen.engine().requested_backend == requested);
  CHECK(seen.engine().effective_backend == shm::Backend::kCpu);
  CHECK(seen.engine().backend_fallbacks == fallbacks);
  CHECK((seen.life == shm::EngineLife::kDegraded) == (fallbacks > 0));
  CHECK(seen.engine().degraded_reason.view().empty() == (fallbacks == 0));
  CHECK(fixture.final_status(fixture.submitted("demo", 1)).record.state == JobState::kDone);
}

}  // namespace
}  // namespace vitrine::engine::testing
