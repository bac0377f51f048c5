// SPDX-License-Identifier: Apache-2.0
// What becomes of a job when something goes wrong, is cancelled, or has to wait.
#include <catch2/catch.hpp>
#include <fstream>
#include <stdexcept>

#include "tests/engine/container_bytes.h"
#include "tests/engine/engine_fixture.h"

namespace vitrine::engine::testing {
namespace {

using Catch::Matchers::Contains;
using shm::FailureClass;
using shm::JobState;
using shm::PartitionStage;

Result<void> out_of_memory() { return Error{ErrorClass::kOutOfMemory, "no memory"}; }
Result<void> thrown() { throw std::runtime_error("a broken stage"); }
Result<void> wrong_proof() { return Error{ErrorClass::kVerifyFailed, "the pairings differ"}; }

TEST_CASE("an exception on a device is counted as a restart of its worker") {
  EngineFixture fixture([](ScriptedStage stage, unsigned call) {
    return stage == ScriptedStage::kFinish && call == 0 ? thrown() : Result<void>();
  });
  fixture.final_status(fixture.submitted("demo", 1));
  std::uint64_t restarts = 0;
  const shm::Snapshot seen = fixture.snapshot();
  for (const auto& worker : seen.rows<shm::WorkerRecord>()) {
    restarts += worker.restarts;
  }
  CHECK(restarts == 1);
}

TEST_CASE("an invalid proof is counted against its device and never handed out") {
  EngineFixture fixture([](ScriptedStage stage, unsigned) {
    return stage == ScriptedStage::kVerify ? wrong_proof() : Result<void>();
  });
  const JobId id = fixture.submitted("demo", 1);
  CHECK(fixture.final_status(id).record.failure_class == FailureClass::kVerifyFailed);
  CHECK(fixture.engine().proof(id, 0) == nullptr);
  CHECK(fixture.engine().result(id) == nullptr);
  CHECK(fixture.snapshot().rows<shm::DeviceRecord>().at(0).proofs_invalid == 1);
}

JobRequest demo_request(const std::string& circuit) {
  JobRequest request;
  request.circuit = circuit;
  request.witnesses.push_back({circuit_folder("bn128", "demo") / "witness.1.wtns", nullptr});
  return request;
}

// A circuit whose key is a file of the test's own, for tests that change it.
std::function<void(EngineOptions&)> with_own_key(const std::filesystem::path& key) {
  return [key](EngineOptions& options) {
    options.configuration.circuits.push_back({"own", key, "own", false, false});
  };
}

TEST_CASE("a key damaged on disk is named when proofs with it do not verify, and heals") {
  const ScratchFolder scratch;
  const auto key = scratch / "own.zkey";
  const auto good = circuit_folder("bn128", "demo") / "circuit.zkey";
  ContainerBytes damaged(good);
  damaged.flip_bit(8 * (damaged.section(4).begin + 4 + 12));  // the first coefficient
  damaged.write(key);
  EngineFixture fixture({}, with_own_key(key));
  const auto prove = [&] {
    return fixture.final_status(fixture.engine().submit(demo_request("own")).value());
  };
  for (int i = 0; i < 2; ++i) {
    const JobStatus failed = prove();
    CHECK(failed.record.failure_class == FailureClass::kVerifyFailed);
    CHECK_THAT(failed.failure, Contains(key.string()) && Contains("witness.1.wtns"));
    fixture.await(
        [&] { return fixture.engine().circuits().at(3).state == shm::AllocationState::kAbsent; });
    fixture.check_quiet();
  }
  std::filesystem::copy_file(good, key, std::filesystem::copy_options::overwrite_existing);
  CHECK(prove().record.state == JobState::kDone);
  CHECK(fixture.engine().circuits().at(3).state == shm::AllocationState::kReady);
  CHECK(fixture.engine().circuits().at(3).loads == 3);
  CHECK(fixture.engine().circuits().at(3).evictions == 2);
}

TEST_CASE("a key replaced by one of another circuit is refused when it is read again") {
  const ScratchFolder scratch;
  const auto key = scratch / "own.zkey";
  std::filesystem::copy_file(circuit_folder("bn128", "demo") / "circuit.zkey", key);
  EngineFixture fixture(
      [](ScriptedStage stage, unsigned) {
        return stage == ScriptedStage::kVerify ? wrong_proof() : Result<void>();
      },
      with_own_key(key));
  fixture.final_status(fixture.engine().submit(demo_request("own")).value());
  std::filesystem::copy_file(circuit_folder("bn128", "multiplier") / "circuit.zkey", key,
                             std::filesystem::copy_options::overwrite_existing);
  const JobStatus refused =
      fixture.final_status(fixture.engine().submit(demo_request("own")).value());
  CHECK(refused.record.failure_class == FailureClass::kInternal);
  CHECK_THAT(refused.failure, Contains(key.string()) && Contains("reload the engine"));
}

TEST_CASE("a key in doubt stays for those that use it, and is read again for the next") {
  Gate gate;
  EngineFixture fixture([&gate](ScriptedStage stage, unsigned call) -> Result<void> {
    if (stage != ScriptedStage::kVerify) return {};
    if (call == 0) gate.pass();
    return call == 1 ? wrong_proof() : Result<void>();
  });
  const JobId user = fixture.submitted("demo", 1);
  gate.await_arrivals(1);
  const JobId failed = fixture.submitted("demo", 1);
  CHECK(fixture.final_status(failed).record.failure_class == FailureClass::kVerifyFailed);
  const JobId next = fixture.submitted("demo", 1);
  const auto doubted = fixture.snapshot_when([&](const shm::Snapshot& now) {
    return job_row(now, next).wait_reason == shm::WaitReason::kSrs;
  });
  const auto& row = doubted.rows<shm::AllocationRecord>().at(0);
  CHECK(row.state == shm::AllocationState::kEvicting);
  CHECK(row.references == 1);
  CHECK(row.reserved_bytes > 0);
  gate.open();
  CHECK(fixture.final_status(user).record.state == JobState::kDone);
  CHECK(fixture.final_status(next).record.state == JobState::kDone);
  CHECK(fixture.engine().circuits().at(0).loads == 2);
  fixture.check_quiet();
}

TEST_CASE("eight jobs that fail in synthesis leave nothing behind for the ninth", "[E8]") {
  EngineFixture fixture([](ScriptedStage stage, unsigned call) {
    return stage == ScriptedStage::kSynthesize && call < 8 ? out_of_memory() : Result<void>();
  });
  std::vector<JobId> jobs;
  for (int i = 0; i < 9; ++i) jobs.push_back(fixture.submitted("demo", 1));
  for (int i = 0; i < 8; ++i) CHECK(fixture.final_status(jobs[i]).record.partitions_failed == 1);
  CHECK(fixture.final_status(jobs[8]).record.state == JobState::kDone);
  fixture.check_quiet();
}

TEST_CASE("a witness of another circuit, a short one and an absent one fail by name") {
  EngineFixture fixture;
  const ScratchFolder scratch;
  ContainerBytes bytes(circuit_folder("bn128", "demo") / "witness.1.wtns");
  bytes.truncate(bytes.size() / 2);
  bytes.write(scratch / "short.wtns");
  const std::filesystem::path wrong[] = {circuit_folder("bn128", "multiplier") / "witness.1.wtns",
                                         circuit_folder("bls12381", "demo") / "witness.1.wtns",
                                         scratch / "short.wtns", scratch / "absent.wtns"};
  for (const auto& witness : wrong) {
    JobRequest request;
    request.circuit = "demo";
    request.witnesses.push_back({witness, nullptr});
    const JobStatus status =
        fixture.final_status(fixture.engine().submit(std::move(request)).value());
    CHECK(status.record.state == JobState::kFailed);
    CHECK(status.record.failure_class == FailureClass::kBadInput);
    CHECK_THAT(status.failure, Contains(witness.filename().string()));
  }
  CHECK(fixture.final_status(fixture.submitted("demo", 1)).record.state == JobState::kDone);
}

// The newest refused job has no class of failure, but its reason.
void check_blames_nobody(EngineFixture& fixture) {
  const auto jobs = fixture.engine().jobs();
  const auto refused = std::find_if(jobs.rbegin(), jobs.rend(), [](const shm::JobRecord& job) {
    return job.state == JobState::kRefused;
  });
  REQUIRE(refused != jobs.rend());
  CHECK(refused->failure_class == FailureClass::kNone);
  CHECK_FALSE(refused->failure.view().empty());
}

TEST_CASE("a corrupt key fails its jobs and shows why, other circuits go on") {
  const ScratchFolder scratch;
  ContainerBytes key(circuit_folder("bn128", "demo") / "circuit.zkey");
  key.flip_bit(8 * (key.section(5).begin + 40));  // a point of the SRS
  key.write(scratch / "bad.zkey");
  EngineFixture fixture({}, [&](EngineOptions& options) {
    options.configuration.circuits.push_back({"bad", scratch / "bad.zkey", "bad", false, false});
    options.configuration.circuits.push_back({"none", scratch / "no.zkey", "bad", false, false});
  });
  JobRequest request;
  request.circuit = "bad";
  request.witnesses.push_back({circuit_folder("bn128", "demo") / "witness.1.wtns", nullptr});
  const JobStatus status =
      fixture.final_status(fixture.engine().submit(std::move(request)).value());
  CHECK(status.record.state == JobState::kFailed);
  CHECK(status.record.failure_class == FailureClass::kInternal);  // nobody gave it
  CHECK_THAT(status.failure, Contains("bad.zkey"));
  CHECK(status.record.partitions_failed == 1);
  CHECK(status.record.partitions_cancelled == 0);
  const auto circuits = fixture.engine().circuits();
  CHECK(circuits.at(3).state == shm::AllocationState::kCorrupt);
  CHECK_FALSE(circuits.at(3).cause.view().empty());
  CHECK(circuits.at(4).state == shm::AllocationState::kAbsent);  // there is no such file
  CHECK_THAT(std::string(circuits.at(4).cause.view()), Contains("cannot be opened"));
  CHECK(fixture.submit("none", 1).error().reason == RefusalReason::kBadCircuit);
  check_blames_nobody(fixture);
  CHECK(fixture.final_status(fixture.submitted("demo", 1)).record.state == JobState::kDone);
  fixture.check_quiet();
}

TEST_CASE("the engine is degraded while a configured circuit cannot be proved") {
  const ScratchFolder scratch;
  ContainerBytes key(circuit_folder("bn128", "demo") / "circuit.zkey");
  key.flip_bit(8 * (key.section(5).begin + 40));
  key.write(scratch / "bad.zkey");
  EngineFixture fixture({}, [&](EngineOptions& options) {
    options.configuration.circuits.push_back({"bad", scratch / "bad.zkey", "bad", false, false});
  });
  const auto prove_bad = [&] {
    JobRequest request;
    request.circuit = "bad";
    request.witnesses.push_back({circuit_folder("bn128", "demo") / "witness.1.wtns", nullptr});
    return fixture.final_status(fixture.engine().submit(std::move(request)).value()).record.state;
  };
  CHECK(fixture.snapshot().life == shm::EngineLife::kReady);  // its header is good
  for (int tries = 0; tries < 2; ++tries) {
    CHECK(prove_bad() == JobState::kFailed);
    const shm::Snapshot seen = fixture.snapshot();
    CHECK(seen.life == shm::EngineLife::kDegraded);
    CHECK_THAT(std::string(seen.engine().degraded_reason.view()), Contains("circuit bad: "));
  }
  std::filesystem::copy_file(circuit_folder("bn128", "demo") / "circuit.zkey", scratch / "bad.zkey",
                             std::filesystem::copy_options::overwrite_existing);
  CHECK(prove_bad() == JobState::kDone);
  CHECK(fixture.snapshot().life == shm::EngineLife::kReady);
}

// Holds the first call of one stage until the gate opens.
ScriptedBackend::Script hold(ScriptedStage held, Gate& gate) {
  return [held, &gate](ScriptedStage stage, unsigned call) -> Result<void> {
    if (stage == held && call == 0) gate.pass();
    return {};
  };
}

TEST_CASE("cancel works while a partition is in any stage, and gives everything back") {
  for (const ScriptedStage stage : {ScriptedStage::kSynthesize, ScriptedStage::kStart,
                                    ScriptedStage::kFinish, ScriptedStage::kVerify}) {
    INFO("stage " << static_cast<int>(stage));
    Gate gate;
    EngineFixture fixture(hold(stage, gate));
    const JobId id = fixture.submitted("demo", 6);
    gate.await_arrivals(1);
    CHECK(fixture.engine().cancel(id) == CancelOutcome::kStopping);
    CHECK_FALSE(fixture.engine().status(id)->is_final());
    gate.open();
    const JobStatus status = fixture.final_status(id);
    CHECK(status.record.state == JobState::kCancelled);
    CHECK(status.record.failure_class == FailureClass::kCancelled);
    CHECK(fixture.engine().cancel(id) == CancelOutcome::kTooLate);
    CHECK(fixture.final_status(fixture.submitted("demo", 1)).record.state == JobState::kDone);
    fixture.check_quiet();
  }
}

TEST_CASE("a job that waits is cancelled at once") {
  Gate gate;
  EngineFixture fixture(hold(ScriptedStage::kSynthesize, gate));
  const JobId running = fixture.submitted("demo", 1);
  gate.await_arrivals(1);
  const JobId queued = fixture.submitted("demo", 3);
  CHECK(fixture.engine().cancel(queued) == CancelOutcome::kStopping);
  CHECK(fixture.engine().status(queued)->record.state == JobState::kCancelled);
  gate.open();
  CHECK(fixture.final_status(running).record.state == JobState::kDone);
  CHECK(fixture.engine().cancel(999) == CancelOutcome::kUnknown);
}

TEST_CASE("a full job queue refuses, counts and names its capacity") {
  Gate gate;
  EngineFixture fixture(hold(ScriptedStage::kSynthesize, gate), [](EngineOptions& options) {
    options.configuration.job_queue_capacity = 2;
  });
  const JobId first = fixture.submitted("demo", 1);
  gate.await_arrivals(1);
  fixture.submitted("demo", 1);
  const JobId last = fixture.submitted("demo", 1);
  const auto refused = fixture.submit("demo", 1);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().reason == RefusalReason::kQueueFull);
  CHECK_THAT(refused.error().text, Contains("2 jobs"));
  check_blames_nobody(fixture);
  CHECK(fixture.snapshot().rows<shm::CountersRecord>().at(0).refused == 1);
  gate.open();
  CHECK(fixture.final_status(first).record.state == JobState::kDone);
  CHECK(fixture.final_status(last).record.state == JobState::kDone);
}

TEST_CASE("a job for which no status rows are free is refused and counted") {
  Gate gate;
  EngineFixture fixture(hold(ScriptedStage::kSynthesize, gate),
                        [](EngineOptions& options) { options.capacity.partitions = 8; });
  const JobId first = fixture.submitted("demo", 5);
  gate.await_arrivals(1);
  CHECK(fixture.submit("demo", 4).error().reason == RefusalReason::kStatusCapacity);
  CHECK(fixture.snapshot().engine().refused_for_capacity == 1);
  gate.open();
  fixture.final_status(first);
  CHECK(fixture.final_status(fixture.submitted("demo", 8)).record.state == JobState::kDone);
}

TEST_CASE("the device queue holds synthesis back, and the segment says so") {
  Gate gate;
  EngineFixture fixture(hold(ScriptedStage::kStart, gate), [](EngineOptions& options) {
    options.configuration.workers_per_device = 1;
    options.configuration.device_queue_capacity = 2;
  });
  const JobId id = fixture.submitted("demo", 8);
  const auto held = fixture.snapshot_when([&](const shm::Snapshot& now) {
    const auto partitions = now.partitions_of({id});
    return partitions.size() == 8 && partitions[3].wait_reason == shm::WaitReason::kDevice;
  });
  const shm::JobRecord& job = job_row(held, id);
  CHECK(job.partitions_gpu_proving == 1);
  CHECK(job.partitions_gpu_queued == 2);
  CHECK(job.partitions_pending == 5);
  gate.open();
  CHECK(fixture.final_status(id).record.state == JobState::kDone);
}

TEST_CASE("a partition that waits for memory says how much it needs, and starts when it is there") {
  const std::uint64_t budget_bytes = peak_bytes("demo") + 1000;
  Gate gate;
  EngineFixture fixture(hold(ScriptedStage::kFinish, gate), [&](EngineOptions& options) {
    options.configuration.memory_budget_bytes = budget_bytes;
  });
  const JobId id = fixture.submitted("demo", 4);
  const auto waiting = fixture.snapshot_when([&](const shm::Snapshot& now) {
    const auto partitions = now.partitions_of({id});
    return partitions.size() == 4 && partitions[1].wait_reason == shm::WaitReason::kMemory;
  });
  CHECK(waiting.memory().waiters == 1);
  CHECK(waiting.memory().waiting_bytes == waiting.partitions_of({id})[1].wait_needs_bytes);
  gate.open();
  CHECK(fixture.final_status(id).record.state == JobState::kDone);
  fixture.check_quiet();
}

TEST_CASE("a paused engine holds work back and says so until it is resumed") {
  EngineFixture fixture;
  fixture.engine().set_pause(Engine::Pause::kOn);
  const JobId id = fixture.submitted("demo", 2);
  const auto held = fixture.snapshot();
  CHECK(held.engine().paused == 1);
  CHECK(job_row(held, id).wait_reason == shm::WaitReason::kPaused);
  CHECK(held.rows<shm::WorkerRecord>().at(0).idle_reason == shm::IdleReason::kPaused);
  fixture.engine().set_pause(Engine::Pause::kOff);
  CHECK(fixture.final_status(id).record.state == JobState::kDone);
}

TEST_CASE("draining lets running jobs end, gives up waiting ones and refuses new ones") {
  Gate gate;
  EngineFixture fixture(hold(ScriptedStage::kSynthesize, gate));
  const JobId running = fixture.submitted("demo", 4);
  gate.await_arrivals(1);
  const JobId waiting = fixture.submitted("demo", 1);
  const auto minute = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  bool has_drained = false;
  std::thread drainer([&] { has_drained = fixture.engine().drain(minute); });
  fixture.snapshot_when(
      [](const shm::Snapshot& now) { return now.life == shm::EngineLife::kDraining; });
  CHECK(fixture.engine().status(waiting)->record.state == JobState::kLost);
  CHECK(fixture.submit("demo", 1).error().reason == RefusalReason::kDraining);
  check_blames_nobody(fixture);
  gate.open();
  drainer.join();
  CHECK(has_drained);
  CHECK(fixture.engine().status(running)->record.state == JobState::kDone);
  fixture.engine().close(0);
  const auto closed = fixture.snapshot();
  CHECK(closed.life == shm::EngineLife::kClosed);
}

TEST_CASE("a hurried drain stops running jobs as lost") {
  Gate gate;
  EngineFixture fixture(hold(ScriptedStage::kStart, gate));
  const JobId running = fixture.submitted("demo", 4);
  gate.await_arrivals(1);
  const auto minute = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  bool has_drained = false;
  std::thread drainer([&] { has_drained = fixture.engine().drain(minute); });
  fixture.engine().hurry();
  fixture.snapshot_when([&](const shm::Snapshot& now) {
    return job_row(now, running).failure_class == FailureClass::kLost;
  });
  gate.open();
  drainer.join();
  CHECK(has_drained);
  CHECK(fixture.engine().status(running)->record.state == JobState::kLost);
}

}  // namespace
}  // namespace vitrine::engine::testing
