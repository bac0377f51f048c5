// SPDX-License-Identifier: Apache-2.0
// In which order the engine serves its jobs, and what time alone changes.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <thread>

#include "shm/clock.h"
#include "tests/engine/engine_fixture.h"

namespace vitrine::engine::testing {
namespace {

using Catch::Matchers::Contains;
using shm::JobState;
using shm::Priority;
using shm::WaitReason;

constexpr std::uint64_t kMillisecond = 1'000'000;

// Holds the first call of one stage until the gate opens.
ScriptedBackend::Script hold(ScriptedStage held, Gate& gate) {
  return [held, &gate](ScriptedStage stage, unsigned call) -> Result<void> {
    if (stage == held && call == 0) gate.pass();
    return {};
  };
}

JobId submitted_at(EngineFixture& fixture, const std::string& circuit, Priority priority) {
  const Submission submission = fixture.submit(circuit, 1, priority);
  if (!submission) FAIL(submission.error().text);
  return *submission;
}

std::uint64_t kernels_began_ns(EngineFixture& fixture, JobId id) {
  return fixture.engine().partitions(id).at(0).gpu_start.ns;
}

TEST_CASE("critical work waits for the one partition in the kernels, not for those before it",
          "[E2]") {
  Gate gate;
  EngineFixture fixture(hold(ScriptedStage::kStart, gate));
  std::vector<JobId> ordinary;
  for (int i = 0; i < 6; ++i) ordinary.push_back(submitted_at(fixture, "demo", Priority::kHigh));
  gate.await_arrivals(1);
  // One in the kernels, one held by the other worker, a full device queue, and two that wait.
  fixture.snapshot_when([&](const shm::Snapshot& now) {
    return job_row(now, ordinary[4]).wait_reason == WaitReason::kDevice;
  });
  const JobId critical = submitted_at(fixture, "demo", Priority::kCritical);
  // The other worker puts its partition back and takes the critical one.
  const shm::Snapshot held = fixture.snapshot_when([&](const shm::Snapshot& now) {
    return now.partitions_of({critical}).at(0).stage == shm::PartitionStage::kGpuProving;
  });
  CHECK(job_row(held, ordinary[1]).partitions_gpu_queued == 1);
  gate.open();
  for (const JobId id : ordinary) CHECK(fixture.final_status(id).record.state == JobState::kDone);
  CHECK(fixture.final_status(critical).record.state == JobState::kDone);
  for (std::size_t i = 1; i < ordinary.size(); ++i) {
    CHECK(kernels_began_ns(fixture, critical) < kernels_began_ns(fixture, ordinary[i]));
  }
  CHECK(kernels_began_ns(fixture, ordinary[1]) < kernels_began_ns(fixture, ordinary[2]));
  fixture.check_quiet();
}

TEST_CASE("jobs start by priority, then deadline, then age") {
  Gate gate;
  EngineFixture fixture(hold(ScriptedStage::kSynthesize, gate), [](EngineOptions& options) {
    options.configuration.workers_per_device = 1;
  });
  const JobId first = submitted_at(fixture, "demo", Priority::kNormal);
  gate.await_arrivals(1);
  const auto submit = [&](Priority priority, std::optional<std::uint64_t> deadline_ns) {
    JobRequest request;
    request.circuit = "demo";
    request.priority = priority;
    request.deadline_ns = deadline_ns;
    request.witnesses.push_back({circuit_folder("bn128", "demo") / "witness.1.wtns", nullptr});
    return fixture.engine().submit(std::move(request)).value();
  };
  constexpr std::uint64_t kHour = 3'600'000 * kMillisecond;
  const std::vector<JobId> from_last = {
      submit(Priority::kLow, {}),           submit(Priority::kNormal, {}),
      submit(Priority::kNormal, 2 * kHour), submit(Priority::kNormal, kHour),
      submit(Priority::kHigh, {}),          submit(Priority::kCritical, {})};
  gate.open();
  fixture.final_status(first);
  for (const JobId id : from_last) fixture.final_status(id);
  for (std::size_t i = 1; i < from_last.size(); ++i) {
    CHECK(kernels_began_ns(fixture, from_last[i]) < kernels_began_ns(fixture, from_last[i - 1]));
  }
}

// Seconds of mixed work beside the large job; more by the environment.
unsigned mixed_seconds() {
  const char* text = std::getenv("VITRINE_MIXED_SECONDS");
  return text != nullptr ? static_cast<unsigned>(std::atoi(text)) : 2;
}

TEST_CASE("a large job of low priority starts within the limit though urgent work never ends",
          "[E17]") {
  constexpr std::uint64_t kLimit = 500 * kMillisecond;
  EngineFixture fixture([](ScriptedStage, unsigned) -> Result<void> { return {}; },
                        [](EngineOptions& options) {
                          options.configuration.workers_per_device = 1;
                          options.configuration.device_queue_capacity = 1;
                          options.configuration.starvation_limit_ns = kLimit;
                        });
  std::vector<JobId> small;
  std::size_t ended = 0;
  const auto keep_busy = [&] {
    const auto has_ended = [&](JobId id) {
      const auto status = fixture.engine().status(id);
      return !status || status->is_final();  // its row may have gone to another
    };
    while (ended < small.size() && has_ended(small[ended])) ++ended;
    while (small.size() < ended + 6) {
      small.push_back(submitted_at(fixture, small.size() % 3 == 0 ? "multiplier" : "demo",
                                   small.size() % 7 == 0 ? Priority::kCritical : Priority::kHigh));
    }
  };
  keep_busy();
  const JobId large = fixture.submit("demo", kPartitionsMax, Priority::kLow).value();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(mixed_seconds());
  while (std::chrono::steady_clock::now() < end) {
    keep_busy();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const JobStatus status = *fixture.engine().status(large);
  REQUIRE(status.record.started.is_set());
  const std::uint64_t waited_ns = status.record.started.ns - status.record.submitted.ns;
  CHECK(waited_ns >= kLimit);
  CHECK(waited_ns < kLimit + 5'000 * kMillisecond);
  // Others went on: it starts one partition for each time that it has waited so long.
  CHECK(status.record.partitions_done + 2 < status.record.partitions);
  const auto minute = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  for (const JobId id : small) {
    const auto ended_as = fixture.engine().wait(id, minute);
    if (ended_as) CHECK(ended_as->record.state == JobState::kDone);
  }
  CHECK(fixture.final_status(large).record.state == JobState::kDone);
}

TEST_CASE("jobs of one circuit are held until their batch is full, critical ones are not") {
  EngineFixture fixture({}, [](EngineOptions& options) {
    options.configuration.max_batch_size = 3;
    options.configuration.max_batch_wait_ns = 3'600'000 * kMillisecond;
  });
  std::vector<JobId> jobs = {fixture.submitted("demo", 2), fixture.submitted("demo", 1)};
  const JobId critical = submitted_at(fixture, "demo", Priority::kCritical);
  CHECK(fixture.final_status(critical).record.state == JobState::kDone);
  const shm::Snapshot held = fixture.snapshot();
  for (const JobId id : jobs) {
    CHECK(job_row(held, id).wait_reason == WaitReason::kBatch);
    for (const auto& partition : held.partitions_of({id})) {
      CHECK(partition.wait_reason == WaitReason::kBatch);
    }
  }
  jobs.push_back(fixture.submitted("demo", 1));
  for (const JobId id : jobs) CHECK(fixture.final_status(id).record.state == JobState::kDone);
  fixture.check_quiet();
}

TEST_CASE("a batch that is not full starts when its oldest job has waited long enough") {
  EngineFixture fixture({}, [](EngineOptions& options) {
    options.configuration.max_batch_size = 8;
    options.configuration.max_batch_wait_ns = 200 * kMillisecond;
  });
  const JobId first = fixture.submitted("demo", 1);
  const JobId second = fixture.submitted("demo", 1);
  const JobStatus status = fixture.final_status(first);
  CHECK(status.record.state == JobState::kDone);
  CHECK(fixture.final_status(second).record.state == JobState::kDone);
  // It asked for its key when the wait was over.
  const auto batched_ns = fixture.engine().circuits().at(0).state_since.ns;
  CHECK(batched_ns >= status.record.submitted.ns + 200 * kMillisecond);
  CHECK(status.record.admitted.ns < status.record.submitted.ns + 5'000 * kMillisecond);
}

JobRequest with_deadline(std::uint64_t deadline_ns, Job::AtDeadline at_deadline) {
  JobRequest request;
  request.circuit = "demo";
  request.deadline_ns = deadline_ns;
  request.at_deadline = at_deadline;
  request.witnesses.push_back({circuit_folder("bn128", "demo") / "witness.1.wtns", nullptr});
  return request;
}

TEST_CASE("a missed deadline is counted when it passes, once, and ends the job if that was asked") {
  EngineFixture fixture;
  Engine& engine = fixture.engine();
  engine.set_pause(Engine::Pause::kOn);
  const JobId goes_on =
      engine.submit(with_deadline(50 * kMillisecond, Job::AtDeadline::kGoOn)).value();
  const JobId stops =
      engine.submit(with_deadline(50 * kMillisecond, Job::AtDeadline::kStop)).value();
  const JobId in_time =
      engine.submit(with_deadline(3'600'000 * kMillisecond, Job::AtDeadline::kStop)).value();
  fixture.snapshot_when([](const shm::Snapshot& now) {
    return now.rows<shm::CountersRecord>().at(0).deadlines_missed == 2;
  });
  const JobStatus stopped = fixture.final_status(stops);
  CHECK(stopped.record.state == JobState::kFailed);
  CHECK(stopped.record.failure_class == shm::FailureClass::kTimeout);
  CHECK_THAT(stopped.failure, Contains("the deadline, 50ms after it was submitted, has passed"));
  engine.set_pause(Engine::Pause::kOff);
  CHECK(fixture.final_status(goes_on).record.state == JobState::kDone);
  CHECK(fixture.final_status(in_time).record.state == JobState::kDone);
  CHECK(fixture.snapshot().rows<shm::CountersRecord>().at(0).deadlines_missed == 2);
  fixture.check_quiet();
}

TEST_CASE("a running job that is to end at its deadline gives everything back") {
  Gate gate;
  EngineFixture fixture(hold(ScriptedStage::kFinish, gate));
  const JobId id =
      fixture.engine().submit(with_deadline(300 * kMillisecond, Job::AtDeadline::kStop)).value();
  gate.await_arrivals(1);
  fixture.snapshot_when([&](const shm::Snapshot& now) {
    return job_row(now, id).failure_class == shm::FailureClass::kTimeout;
  });
  gate.open();
  CHECK(fixture.final_status(id).record.failure_class == shm::FailureClass::kTimeout);
  fixture.check_quiet();
}

}  // namespace
}  // namespace vitrine::engine::testing
