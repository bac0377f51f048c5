// SPDX-License-Identifier: Apache-2.0
// When jobs are expected to end, as the segment shows it.
#include <catch2/catch.hpp>

#include "tests/engine/engine_fixture.h"

namespace vitrine::engine::testing {
namespace {

using shm::JobState;

TEST_CASE("once a circuit has made a proof its jobs show when they are expected to end") {
  Gate gate;
  // The first job runs through, the second is held on the device.
  EngineFixture fixture([&gate](ScriptedStage stage, unsigned call) -> Result<void> {
    if (stage == ScriptedStage::kStart && call == 1) gate.pass();
    return {};
  });
  const JobId first = fixture.submitted("demo", 1);
  CHECK(fixture.final_status(first).record.state == JobState::kDone);
  const JobId held = fixture.submitted("demo", 1);
  gate.await_arrivals(1);
  const JobId behind = fixture.submitted("demo", 3);
  const shm::Snapshot shown = fixture.snapshot_when([&](const shm::Snapshot& now) {
    return job_row(now, held).expected_end.is_set() && job_row(now, behind).expected_end.is_set();
  });
  CHECK(job_row(shown, behind).expected_end.ns > job_row(shown, held).expected_end.ns);
  CHECK_FALSE(job_row(shown, first).expected_end.is_set());
  gate.open();
  for (const JobId id : {held, behind}) {
    CHECK(fixture.final_status(id).record.state == JobState::kDone);
    CHECK_FALSE(fixture.final_status(id).record.expected_end.is_set());
  }
}

TEST_CASE("in a pause jobs that wait have no expected end, and have one again after it") {
  EngineFixture fixture;
  CHECK(fixture.final_status(fixture.submitted("demo", 1)).record.state == JobState::kDone);
  fixture.engine().set_pause(Engine::Pause::kOn);
  const JobId waiting = fixture.submitted("demo", 2);
  const shm::Snapshot paused = fixture.snapshot_when([&](const shm::Snapshot& now) {
    return job_row(now, waiting).wait_reason == shm::WaitReason::kPaused;
  });
  CHECK_FALSE(job_row(paused, waiting).expected_end.is_set());
  fixture.engine().set_pause(Engine::Pause::kOff);
  CHECK(fixture.final_status(waiting).record.state == JobState::kDone);
}

TEST_CASE("jobs that waited before a pause may all be cancelled in it") {
  Gate gate;
  EngineFixture fixture([&gate](ScriptedStage stage, unsigned) -> Result<void> {
    if (stage == ScriptedStage::kStart) gate.pass();
    return {};
  });
  std::vector<JobId> jobs;
  for (int i = 0; i < 8; ++i) jobs.push_back(fixture.submitted("demo", 4));
  gate.await_arrivals(1);
  fixture.engine().set_pause(Engine::Pause::kOn);
  for (const JobId id : jobs) {
    CHECK(fixture.engine().cancel(id) == CancelOutcome::kStopping);
  }
  gate.open();
  // Expected ends are told every tenth beat.
  const std::uint64_t beats = fixture.engine().beats();
  fixture.await([&] { return fixture.engine().beats() > beats + 20; });
  for (const JobId id : jobs) {
    CHECK(fixture.final_status(id).record.state == JobState::kCancelled);
  }
}

}  // namespace
}  // namespace vitrine::engine::testing
