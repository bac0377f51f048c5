// SPDX-License-Identifier: Apache-2.0
// Several devices: who takes what, who may, and what becomes of the work of one that fails.
#include <catch2/catch.hpp>
#include <chrono>
#include <numeric>

#include "engine/device_setup.h"
#include "tests/engine/device_scripts.h"

namespace vitrine::engine::testing {
namespace {

using Catch::Matchers::Contains;
using shm::DeviceState;
using shm::EngineLife;
using shm::FailureClass;
using shm::JobState;

std::string degraded_text(EngineFixture& fixture) {
  return std::string(fixture.snapshot().engine().degraded_reason.view());
}

JobState outcome(EngineFixture& fixture, const char* circuit = "demo") {
  return fixture.final_status(fixture.submitted(circuit, 1)).record.state;
}

shm::CountersRecord demo_counters(EngineFixture& fixture) {
  return fixture.snapshot().rows<shm::CountersRecord>().at(0);
}

// Stops working after its first `good` proofs.
ScriptedBackend::Script fails_after(unsigned good, ScriptedStage failing, Result<void> (*fault)()) {
  return [=](ScriptedStage stage, unsigned call) {
    return stage == failing && call >= good ? fault() : Result<void>();
  };
}

TEST_CASE("CPU devices share the threads: each has one at least, and they add up") {
  for (const auto& [count, threads] : {std::pair{1U, 8U}, {3U, 8U}, {8U, 8U}, {2U, 3U}}) {
    const auto devices = cpu_devices(count, threads, nullptr);
    REQUIRE(devices.size() == count);
    unsigned sum = 0;
    for (const DeviceSetup& device : devices) {
      CHECK(device.threads >= threads / count);
      CHECK(device.threads <= threads / count + 1);
      sum += device.threads;
    }
    CHECK(sum == threads);
  }
}

TEST_CASE("more CPU devices than threads are refused with both numbers") {
  EngineOptions options;
  options.configuration.threads = 2;
  options.configuration.cpu_devices = 3;
  options.configuration.memory_budget_bytes = std::uint64_t{64} << 20;
  const auto started = Engine::start(std::move(options));
  REQUIRE_FALSE(started.has_value());
  CHECK(started.error().kind == StartFailure::Kind::kUsage);
  CHECK_THAT(started.error().text, Contains("cpu_devices = 3") && Contains("2"));
}

TEST_CASE("two devices prove two partitions at the same time, with two workers each") {
  Gate gate;
  EngineFixture fixture(
      [&gate](ScriptedStage stage, unsigned call) -> Result<void> {
        if (stage == ScriptedStage::kStart && call < 2) gate.pass();
        return {};
      },
      [](EngineOptions& options) { options.configuration.cpu_devices = 2; });
  const JobId id = fixture.submitted("demo", 6);
  gate.await_arrivals(2);
  const shm::Snapshot both = fixture.snapshot();
  CHECK(both.rows<shm::WorkerRecord>().size() == 4);
  REQUIRE(both.rows<shm::DeviceRecord>().size() == 2);
  for (const auto& device : both.rows<shm::DeviceRecord>()) {
    CHECK(device.threads == 1);
    CHECK(device.workers == 2);
  }
  gate.open();
  CHECK(fixture.final_status(id).record.state == JobState::kDone);
  CHECK(device_row(fixture, 0).proofs + device_row(fixture, 1).proofs == 6);
  CHECK(device_row(fixture, 0).proofs > 0);
  CHECK(device_row(fixture, 1).proofs > 0);
  fixture.check_quiet();
}

TEST_CASE("a partition larger than every device's memory is refused at once with both numbers",
          "[E6]") {
  const auto demo = partition_bytes(circuit_folder("bn128", "demo") / "circuit.zkey");
  const auto small = partition_bytes(circuit_folder("bn128", "multiplier") / "circuit.zkey");
  REQUIRE(small < demo);
  EngineFixture fixture(
      {}, with_devices({scripted_device(nothing_special(), shm::Backend::kCpu, small)}));
  const auto before = std::chrono::steady_clock::now();
  const Submission refused = fixture.submit("demo", 1);
  CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(1));
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().reason == RefusalReason::kImpossible);
  CHECK_THAT(refused.error().text,
             Contains("of a device's memory") && Contains("the most that a device has is"));
  CHECK_THAT(degraded_text(fixture), Contains("device's memory"));
  CHECK(outcome(fixture, "multiplier") == JobState::kDone);
  CHECK(fixture.snapshot().memory().refused_impossible == 1);
  fixture.check_quiet();
}

TEST_CASE("a partition goes to a device whose memory holds it, another takes the rest") {
  const auto small = partition_bytes(circuit_folder("bn128", "multiplier") / "circuit.zkey");
  EngineFixture fixture({},
                        with_devices({scripted_device(nothing_special(), shm::Backend::kCpu, small),
                                      scripted_device(nothing_special())}));
  const JobId id = fixture.submitted("demo", 5);
  CHECK(fixture.final_status(id).record.state == JobState::kDone);
  for (const auto& partition : fixture.engine().partitions(id)) {
    CHECK(partition.device == shm::Index::of(1));
  }
  CHECK(fixture.snapshot().life == EngineLife::kReady);
}

TEST_CASE("an invalid proof is made again on another device, and only the good one leaves") {
  EngineFixture fixture(
      {}, with_devices(devices_with_one_script(2, [](ScriptedStage stage, unsigned call) {
        return stage == ScriptedStage::kVerify && call == 0 ? wrong_proof() : Result<void>();
      })));
  const JobId id = fixture.submitted("demo", 3);
  CHECK(fixture.final_status(id).record.state == JobState::kDone);
  CHECK(demo_counters(fixture).partitions_retried == 1);
  CHECK(demo_counters(fixture).partitions_failed == 0);
  CHECK(demo_counters(fixture).partitions_done == 3);
  std::uint32_t second_attempts = 0;
  for (const auto& partition : fixture.engine().partitions(id)) {
    if (partition.attempt != 2) continue;
    ++second_attempts;
    const std::uint32_t first_device = 1 - partition.device.number();
    CHECK(device_row(fixture, first_device).proofs_invalid == 1);
    CHECK(device_row(fixture, first_device).failures == 1);
    CHECK(device_row(fixture, partition.device.number()).proofs_invalid == 0);
  }
  CHECK(second_attempts == 1);
  CHECK(fixture.engine().circuits().at(0).loads == 1);  // the key is not doubted
  CHECK(fixture.snapshot().engine().stale_events == 0);
  fixture.check_quiet();
}

TEST_CASE("what two devices fail alike fails the job, drops the key and blames no device") {
  EngineFixture fixture(
      {}, with_devices(devices_with_one_script(2, [](ScriptedStage stage, unsigned call) {
        return stage == ScriptedStage::kVerify && call < 8 ? wrong_proof() : Result<void>();
      })));
  for (int round = 0; round < 4; ++round) {
    const JobStatus status = fixture.final_status(fixture.submitted("demo", 1));
    CHECK(status.record.failure_class == FailureClass::kVerifyFailed);
    CHECK(status.record.failure_device.is_set());
    CHECK(status.record.failure_partition == shm::Index::of(0));
  }
  CHECK(demo_counters(fixture).partitions_retried == 4);
  CHECK(demo_counters(fixture).partitions_failed == 4);
  for (const std::size_t number : {0, 1}) {
    CHECK(device_row(fixture, number).proofs_invalid == 4);
    CHECK(device_row(fixture, number).state == DeviceState::kUp);
  }
  CHECK(outcome(fixture) == JobState::kDone);
  CHECK(fixture.engine().circuits().at(0).loads == 5);
  fixture.check_quiet();
}

TEST_CASE("a device with three invalid proofs is quarantined until it is released") {
  EngineFixture fixture([](ScriptedStage stage, unsigned call) {
    return stage == ScriptedStage::kVerify && call < 3 ? wrong_proof() : Result<void>();
  });
  for (int i = 0; i < 3; ++i) {
    CHECK(fixture.snapshot().life == EngineLife::kReady);
    CHECK(outcome(fixture) == JobState::kFailed);
  }
  CHECK(device_row(fixture, 0).state == DeviceState::kQuarantined);
  CHECK(device_row(fixture, 0).proofs_invalid == 3);
  CHECK(fixture.snapshot().life == EngineLife::kDegraded);
  CHECK_THAT(degraded_text(fixture),
             Contains("quarantined: 3 invalid proofs") && Contains("no device takes work"));
  const JobId id = fixture.submitted("demo", 2);
  const auto waiting = fixture.snapshot_when([&](const shm::Snapshot& now) {
    return job_row(now, id).wait_reason == shm::WaitReason::kDevice;
  });
  CHECK(waiting.partitions_of({id}).at(0).wait_reason == shm::WaitReason::kDevice);
  CHECK(fixture.engine().release_device(1) == DeviceRelease::kUnknown);
  CHECK(fixture.engine().release_device(0) == DeviceRelease::kDone);
  CHECK(fixture.final_status(id).record.state == JobState::kDone);
  CHECK(device_row(fixture, 0).state == DeviceState::kUp);
  CHECK(device_row(fixture, 0).proofs_invalid == 3);
  CHECK(fixture.snapshot().life == EngineLife::kReady);
  fixture.check_quiet();
}

TEST_CASE("what waits for a quarantined device goes to another, also out of a worker's hands") {
  Gate gate;
  EngineFixture fixture({}, [&gate](EngineOptions& options) {
    options.configuration.device_queue_capacity = 8;
    options.devices = {scripted_device([](ScriptedStage stage, unsigned) {
                         return stage == ScriptedStage::kVerify ? wrong_proof() : Result<void>();
                       }),
                       scripted_device([&gate](ScriptedStage stage, unsigned call) {
                         if (stage == ScriptedStage::kStart && call == 0) gate.pass();
                         return Result<void>();
                       })};
  });
  const JobId id = fixture.submitted("demo", 8);
  fixture.snapshot_when([](const shm::Snapshot& now) {
    return now.rows<shm::DeviceRecord>().at(0).state == DeviceState::kQuarantined;
  });
  gate.open();
  CHECK(fixture.final_status(id).record.state == JobState::kDone);
  CHECK(device_row(fixture, 1).proofs == 8);
  CHECK(device_row(fixture, 0).proofs_invalid >= 3);
  CHECK(demo_counters(fixture).partitions_retried == device_row(fixture, 0).proofs_invalid);
  fixture.check_quiet();
}

TEST_CASE("a device error is made good by another device, repeated, the device is lost") {
  EngineFixture fixture(
      {}, with_devices({scripted_device(fails_after(0, ScriptedStage::kStart, device_error)),
                        scripted_device(nothing_special())}));
  while (device_row(fixture, 0).state != DeviceState::kLost) {
    CHECK(fixture.final_status(fixture.submitted("demo", 4)).record.state == JobState::kDone);
  }
  CHECK(device_row(fixture, 0).failures == 5);
  CHECK(demo_counters(fixture).partitions_retried == 5);
  CHECK(demo_counters(fixture).failed == 0);
  CHECK_THAT(degraded_text(fixture), Contains("device 0 is lost: 5 errors in a row"));
  CHECK(outcome(fixture) == JobState::kDone);
  fixture.check_quiet();
}

TEST_CASE("a device that fails twice in a row is degraded until it makes a proof") {
  EngineFixture fixture([](ScriptedStage stage, unsigned call) {
    return stage == ScriptedStage::kFinish && call < 2 ? device_error() : Result<void>();
  });
  CHECK(outcome(fixture) == JobState::kFailed);
  CHECK(device_row(fixture, 0).state == DeviceState::kUp);
  CHECK(outcome(fixture) == JobState::kFailed);
  CHECK(device_row(fixture, 0).state == DeviceState::kDegraded);
  CHECK(fixture.snapshot().life == EngineLife::kDegraded);
  CHECK(outcome(fixture) == JobState::kDone);
  CHECK(device_row(fixture, 0).state == DeviceState::kUp);
  CHECK(fixture.snapshot().life == EngineLife::kReady);
}

TEST_CASE("when the only device that holds a circuit is lost its jobs are refused, others go on") {
  const auto small = partition_bytes(circuit_folder("bn128", "multiplier") / "circuit.zkey");
  EngineFixture fixture(
      {}, with_devices({scripted_device(nothing_special(), shm::Backend::kCpu, small),
                        scripted_device(fails_after(0, ScriptedStage::kStart, device_error))}));
  for (int i = 0; i < 5; ++i) CHECK(outcome(fixture) == JobState::kFailed);
  CHECK(demo_counters(fixture).partitions_retried == 0);  // nobody else could
  CHECK(fixture.submit("demo", 1).error().reason == RefusalReason::kImpossible);
  CHECK(outcome(fixture, "multiplier") == JobState::kDone);
  fixture.check_quiet();
}

TEST_CASE("with auto the CPU takes over from devices that are gone, and says so") {
  EngineFixture fixture(
      {}, with_devices({scripted_device(
              [](ScriptedStage stage, unsigned call) {
                return stage == ScriptedStage::kStart && call < 5 ? device_error() : Result<void>();
              },
              shm::Backend::kCuda)}));
  CHECK_FALSE(fixture.engine().devices().at(1).takes_work);
  for (int i = 0; i < 4; ++i) CHECK(outcome(fixture) == JobState::kFailed);
  CHECK(fixture.snapshot().engine().effective_backend == shm::Backend::kCuda);
  CHECK(outcome(fixture) == JobState::kDone);  // the fifth error: the CPU makes it again
  const shm::Snapshot fallen = fixture.snapshot();
  CHECK(fallen.engine().effective_backend == shm::Backend::kCpu);
  CHECK(fallen.engine().requested_backend == shm::Backend::kAuto);
  CHECK(fallen.engine().backend_fallbacks == 1);
  CHECK(fallen.life == EngineLife::kDegraded);
  CHECK_THAT(degraded_text(fixture), Contains("proving on the CPU"));
  CHECK(outcome(fixture) == JobState::kDone);
  CHECK(device_row(fixture, 1).proofs == 2);
  CHECK(fixture.engine().release_device(0) == DeviceRelease::kDone);
  CHECK(fixture.snapshot().engine().effective_backend == shm::Backend::kCuda);
  CHECK(fixture.snapshot().life == EngineLife::kReady);
  CHECK(outcome(fixture) == JobState::kDone);
  CHECK(device_row(fixture, 1).proofs == 2);
  fixture.check_quiet();
}

TEST_CASE("without auto nothing takes over: jobs wait for a device and say so") {
  EngineFixture fixture({}, [](EngineOptions& options) {
    options.configuration.backend = shm::Backend::kCuda;
    options.devices = {scripted_device(
        [](ScriptedStage stage, unsigned call) {
          return stage == ScriptedStage::kStart && call < 5 ? device_error() : Result<void>();
        },
        shm::Backend::kCuda)};
  });
  CHECK(fixture.engine().devices().size() == 1);
  for (int i = 0; i < 5; ++i) CHECK(outcome(fixture) == JobState::kFailed);
  const JobId id = fixture.submitted("demo", 1);
  fixture.snapshot_when([&](const shm::Snapshot& now) {
    return job_row(now, id).wait_reason == shm::WaitReason::kDevice;
  });
  CHECK_THAT(degraded_text(fixture), Contains("no device takes work"));
  CHECK(fixture.engine().release_device(0) == DeviceRelease::kDone);
  CHECK(fixture.final_status(id).record.state == JobState::kDone);
}

}  // namespace
}  // namespace vitrine::engine::testing
