// SPDX-License-Identifier: Apache-2.0
// A job is cancelled in each state that it can be in: it ends in time, and nothing of it is left.
#include <catch2/catch.hpp>
#include <future>
#include <thread>

#include "tests/engine/device_scripts.h"
#include "tests/engine/durable_fixture.h"

namespace vitrine::engine::testing {
namespace {

using shm::FailureClass;
using shm::JobState;
using shm::PartitionStage;
using shm::Priority;
using shm::WaitReason;

constexpr std::uint64_t kHour = 3'600'000'000'000;

// What a job waits for, how that is brought about, and how it is taken away again.
struct Wait {
  const char* what;
  JobState state;
  WaitReason reason;
  ScriptedStage held;      // by the gate, in its first call
  unsigned jobs_before;    // of one partition each
  bool is_paused = false;  // the engine, before the job comes
};

const Wait kWaits[] = {
    {"batch", JobState::kQueued, WaitReason::kBatch, ScriptedStage::kSynthesize, 0},
    {"key", JobState::kAdmitting, WaitReason::kSrs, ScriptedStage::kSynthesize, 0},
    {"synthesis", JobState::kAdmitting, WaitReason::kCpu, ScriptedStage::kSynthesize, 1},
    {"behind others", JobState::kQueued, WaitReason::kCpu, ScriptedStage::kSynthesize, 2},
    {"device", JobState::kAdmitting, WaitReason::kDevice, ScriptedStage::kStart, 3},
    {"memory", JobState::kAdmitting, WaitReason::kMemory, ScriptedStage::kFinish, 1},
    {"pause", JobState::kQueued, WaitReason::kPaused, ScriptedStage::kSynthesize, 0, true}};

void adjust_for(const Wait& wait, Gate& gate, std::uint64_t tight_bytes, EngineOptions& options) {
  options.configuration.workers_per_device = 1;
  if (wait.reason == WaitReason::kMemory) options.configuration.memory_budget_bytes = tight_bytes;
  if (wait.reason == WaitReason::kBatch) {
    options.configuration.max_batch_size = 8;
    options.configuration.max_batch_wait_ns = kHour;
  }
  if (wait.reason != WaitReason::kSrs) return;
  options.key_reader = [&gate](const auto& path, const auto& how, auto& threads) {
    gate.pass();
    return load_proving_key(path, how, threads);
  };
}

// That nothing of the job waits or holds anything once it has ended.
void check_cancelled(EngineFixture& fixture, JobId id) {
  const shm::Snapshot now = fixture.snapshot();
  const shm::JobRecord& job = job_row(now, id);
  CHECK(job.state == JobState::kCancelled);
  CHECK(job.failure_class == FailureClass::kCancelled);
  CHECK(job.wait_reason == WaitReason::kNone);
  CHECK(job.partitions_done + job.partitions_cancelled == job.partitions);
  for (const shm::PartitionRecord& partition : now.partitions_of({id})) {
    CHECK(partition.reserved_bytes == 0);
    CHECK(partition.wait_reason == WaitReason::kNone);
  }
}

// Everything is as if the job had never been.
void check_goes_on(EngineFixture& fixture) {
  const auto next = fixture.submit("demo", 1, Priority::kCritical).value();
  CHECK(fixture.final_status(next).record.state == JobState::kDone);
  fixture.check_quiet();
  CHECK(fixture.snapshot().memory().working_bytes == 0);
}

TEST_CASE("a job that waits, for whatever it is, is cancelled at once", "[E14]") {
  const std::uint64_t tight_bytes = peak_bytes("demo") + 1000;
  for (const Wait& wait : kWaits) {
    INFO(wait.what);
    Gate gate;
    EngineFixture fixture(
        [&](ScriptedStage stage, unsigned call) -> Result<void> {
          if (stage == wait.held && call == 0 && wait.jobs_before > 0) gate.pass();
          return {};
        },
        [&](EngineOptions& options) { adjust_for(wait, gate, tight_bytes, options); });
    if (wait.is_paused) fixture.engine().set_pause(Engine::Pause::kOn);
    std::vector<JobId> before;
    for (unsigned i = 0; i < wait.jobs_before; ++i) before.push_back(fixture.submitted("demo", 1));
    if (!before.empty()) gate.await_arrivals(1);
    const JobId id = fixture.submitted("demo", 3);
    fixture.snapshot_when([&](const shm::Snapshot& now) {
      const shm::JobRecord& job = job_row(now, id);
      return job.state == wait.state && job.wait_reason == wait.reason;
    });
    CHECK(fixture.engine().cancel(id) == CancelOutcome::kStopping);
    check_cancelled(fixture, id);
    CHECK(fixture.engine().cancel(id) == CancelOutcome::kTooLate);
    gate.open();
    if (wait.is_paused) fixture.engine().set_pause(Engine::Pause::kOff);
    for (const JobId other : before) {
      CHECK(fixture.final_status(other).record.state == JobState::kDone);
    }
    check_goes_on(fixture);
  }
}

TEST_CASE("a running job is cancelled in every stage: what waits at once, the rest with its stage",
          "[E14]") {
  const auto held = GENERATE(ScriptedStage::kSynthesize, ScriptedStage::kStart,
                             ScriptedStage::kFinish, ScriptedStage::kVerify);
  CAPTURE(static_cast<int>(held));
  Gate gate;
  EngineFixture fixture([&](ScriptedStage stage, unsigned call) -> Result<void> {
    if (stage == held && call == 0) gate.pass();
    return {};
  });
  const JobId id = fixture.submitted("demo", 8);
  gate.await_arrivals(1);
  CHECK(fixture.engine().cancel(id) == CancelOutcome::kStopping);
  const shm::Snapshot stopping = fixture.snapshot();
  const shm::JobRecord& job = job_row(stopping, id);
  CHECK(job.state == JobState::kRunning);
  CHECK(job.partitions_pending == 0);
  CHECK(job.partitions_gpu_queued == 0);
  for (const shm::PartitionRecord& partition : stopping.partitions_of({id})) {
    if (shm::is_final(partition.stage)) CHECK(partition.reserved_bytes == 0);
  }
  CHECK(fixture.engine().cancel(id) == CancelOutcome::kStopping);
  gate.open();
  CHECK(fixture.final_status(id).record.state == JobState::kCancelled);
  check_cancelled(fixture, id);
  check_goes_on(fixture);
}

// Holds the thread that says the phrase: what it has changed is shown, it has not gone on.
class HoldingJournal : public Journal {
 public:
  explicit HoldingJournal(std::string phrase) : phrase_(std::move(phrase)) {}
  void write(const JournalEntry& entry) override {
    if (entry.what == phrase_) gate_.pass();
  }
  Gate& gate() { return gate_; }

 private:
  std::string phrase_;
  Gate gate_;
};

TEST_CASE("a job whose result is being assembled is cancelled, and hands none out", "[E14]") {
  HoldingJournal journal("partition done");
  EngineFixture fixture({}, [&](EngineOptions& options) { options.journal = &journal; });
  const JobId id = fixture.submitted("demo", 1);
  journal.gate().await_arrivals(1);
  fixture.snapshot_when(
      [&](const shm::Snapshot& now) { return job_row(now, id).state == JobState::kAssembling; });
  // Whoever changes something writes what others left: not this thread, which has to open the gate.
  auto cancelled = std::async(std::launch::async, [&] { return fixture.engine().cancel(id); });
  fixture.snapshot_when([&](const shm::Snapshot& now) {
    return job_row(now, id).failure_class == FailureClass::kCancelled;
  });
  journal.gate().open();
  CHECK(cancelled.get() == CancelOutcome::kStopping);
  CHECK(fixture.final_status(id).record.state == JobState::kCancelled);
  CHECK(fixture.engine().result(id) == nullptr);
  check_cancelled(fixture, id);
  check_goes_on(fixture);
}

TEST_CASE("a partition's second attempt is cancelled as the first is", "[E14]") {
  Gate gate;
  EngineFixture fixture(
      {}, with_devices(devices_with_one_script(2, [&](ScriptedStage stage, unsigned call) {
        if (stage != ScriptedStage::kStart || call > 1) return Result<void>();
        if (call == 0) return device_error();
        gate.pass();
        return Result<void>();
      })));
  const JobId id = fixture.submitted("demo", 1);
  gate.await_arrivals(1);
  CHECK(fixture.engine().partitions(id).at(0).attempt == 2);
  CHECK(fixture.engine().cancel(id) == CancelOutcome::kStopping);
  gate.open();
  CHECK(fixture.final_status(id).record.state == JobState::kCancelled);
  check_cancelled(fixture, id);
  check_goes_on(fixture);
}

TEST_CASE("a partition that waits for its second attempt is cancelled at once", "[E14]") {
  Gate gate;
  EngineFixture fixture(
      {}, with_devices(devices_with_one_script(2, [&](ScriptedStage stage, unsigned call) {
        // The retry cannot be synthesized: another job is.
        if (stage == ScriptedStage::kSynthesize && call == 1) gate.pass();
        return stage == ScriptedStage::kStart && call == 0 ? device_error() : Result<void>();
      })));
  fixture.engine().set_pause(Engine::Pause::kOn);
  const JobId id = fixture.submitted("demo", 1);
  const JobId other = fixture.submitted("demo", 1);
  fixture.engine().set_pause(Engine::Pause::kOff);
  gate.await_arrivals(1);
  fixture.snapshot_when([&](const shm::Snapshot& now) {
    const auto partition = now.partitions_of({id}).at(0);
    return partition.attempt == 2 && partition.stage == PartitionStage::kPending;
  });
  CHECK(fixture.engine().cancel(id) == CancelOutcome::kStopping);
  check_cancelled(fixture, id);
  gate.open();
  CHECK(fixture.final_status(other).record.state == JobState::kDone);
  check_goes_on(fixture);
}

TEST_CASE("a job that has ended stays as it is when it is cancelled", "[E14]") {
  EngineFixture fixture([](ScriptedStage stage, unsigned call) -> Result<void> {
    if (stage == ScriptedStage::kFinish && call == 1) return device_error();
    return {};
  });
  const JobId done = fixture.submitted("demo", 1);
  CHECK(fixture.final_status(done).record.state == JobState::kDone);
  const JobId failed = fixture.submitted("demo", 1);
  CHECK(fixture.final_status(failed).record.state == JobState::kFailed);
  for (const JobId id : {done, failed}) {
    CHECK(fixture.engine().cancel(id) == CancelOutcome::kTooLate);
  }
  CHECK(fixture.engine().status(done)->record.state == JobState::kDone);
  CHECK(fixture.engine().status(failed)->record.state == JobState::kFailed);
  CHECK(fixture.engine().result(done) != nullptr);
}

TEST_CASE("a job that is not on disk yet is cancelled, and ends when the disk has that", "[E14]") {
  DurableFixture durable;
  StoreBlocker blocker(durable.store_path());
  auto received = std::async(std::launch::async,
                             [&] { return durable.engine().receive(durable.request("mine", 2)); });
  JobId id = 0;
  durable.fixture().snapshot_when([&](const shm::Snapshot& now) {
    for (const auto& job : now.rows<shm::JobRecord>()) id = job.job.value;
    return id != 0 && job_row(now, id).state == JobState::kReceived;
  });
  CHECK(durable.engine().cancel(id) == CancelOutcome::kStopping);
  CHECK_FALSE(durable.engine().status(id)->is_final());
  blocker.release();
  (void)received.get();
  CHECK(durable.final_status(id).record.state == JobState::kCancelled);
  check_cancelled(durable.fixture(), id);
  CHECK(durable.engine().past_job(id).value()->record.state == JobState::kCancelled);
  durable.fixture().await([&] { return durable.spooled_files() == 0; });
}

}  // namespace
}  // namespace vitrine::engine::testing
