// SPDX-License-Identifier: Apache-2.0
// A device that does not answer: its work goes on elsewhere, and what it says later changes
// nothing.
#include <catch2/catch.hpp>

#include "shm/attachment.h"
#include "tests/engine/device_scripts.h"

namespace vitrine::engine::testing {
namespace {

using shm::DeviceState;
using shm::JobState;

constexpr std::uint64_t kStepLimitNs = 200'000'000;

// Two devices that are not the CPU; the first start of a proof is held by one gate and may then
// fail, the second finish by another.
class HungDevice {
 public:
  explicit HungDevice(Result<void> (*late)())
      : fixture_({}, [this, late](EngineOptions& options) {
          options.configuration.backend = shm::Backend::kCuda;
          options.configuration.step_limit_ns = kStepLimitNs;
          options.capacity.jobs = 3;
          options.devices = devices_with_one_script(
              2,
              [this, late](ScriptedStage stage, unsigned call) {
                if (stage == ScriptedStage::kStart && call == 0) {
                  first_.pass();
                  return late();
                }
                if (stage == ScriptedStage::kVerify && call == 0) second_.pass();
                return Result<void>();
              },
              shm::Backend::kCuda);
        }) {}

  EngineFixture& fixture() { return fixture_; }
  Gate& first() { return first_; }
  Gate& second() { return second_; }

 private:
  Gate first_, second_;
  EngineFixture fixture_;
};

Result<void> nothing() { return {}; }

std::uint32_t lost_device(EngineFixture& fixture) {
  const shm::Snapshot lost = fixture.snapshot_when([](const shm::Snapshot& now) {
    return std::ranges::count(now.rows<shm::DeviceRecord>(), DeviceState::kLost,
                              &shm::DeviceRecord::state) == 1;
  });
  return lost.rows<shm::DeviceRecord>().at(0).state == DeviceState::kLost ? 0 : 1;
}

void await_stale_events(EngineFixture& fixture, std::uint64_t count) {
  fixture.snapshot_when(
      [&](const shm::Snapshot& now) { return now.engine().stale_events == count; });
}

TEST_CASE("the late end of attempt 1 during attempt 2 is ignored and counted", "[E13]") {
  const auto late = GENERATE(&nothing, &device_error, &wrong_proof);
  HungDevice hung(late);
  EngineFixture& fixture = hung.fixture();
  const std::uint64_t budget_bytes = fixture.snapshot().memory().budget_bytes;
  const JobId id = fixture.submitted("demo", 1);
  hung.first().await_arrivals(1);
  const std::uint32_t lost = lost_device(fixture);
  hung.second().await_arrivals(1);  // attempt 2, on the other device
  CHECK(fixture.engine().partitions(id).at(0).attempt == 2);
  CHECK(fixture.snapshot().memory().budget_bytes < budget_bytes);
  CHECK(fixture.engine().release_device(lost) == DeviceRelease::kStuck);
  hung.first().open();
  await_stale_events(fixture, 1);
  const JobStatus during = *fixture.engine().status(id);
  CHECK(during.record.state == JobState::kRunning);
  CHECK(during.record.failure_class == shm::FailureClass::kNone);
  CHECK(fixture.snapshot().memory().budget_bytes == budget_bytes);
  CHECK(fixture.engine().circuits().at(0).references == 1);
  hung.second().open();
  CHECK(fixture.final_status(id).record.state == JobState::kDone);
  const auto kind = fixture.snapshot().rows<shm::CountersRecord>().at(0);
  CHECK(kind.partitions_done == 1);
  CHECK(kind.partitions_failed == 0);
  CHECK(kind.partitions_retried == 1);
  CHECK(fixture.engine().release_device(lost) == DeviceRelease::kDone);
  CHECK(fixture.snapshot().life == shm::EngineLife::kReady);
  fixture.check_quiet();
}

TEST_CASE("the late end of a job that has gone from memory is ignored too") {
  HungDevice hung(device_error);
  EngineFixture& fixture = hung.fixture();
  hung.second().open();
  const JobId id = fixture.submitted("demo", 1);
  hung.first().await_arrivals(1);
  CHECK(fixture.final_status(id).record.state == JobState::kDone);
  for (int i = 0; fixture.engine().status(id); ++i) {
    REQUIRE(i < 10);
    fixture.final_status(fixture.submitted("multiplier", 1));
  }
  hung.first().open();
  await_stale_events(fixture, 1);
  fixture.check_quiet();
}

TEST_CASE("a device that does not answer is lost and degrades the engine, which does not hang") {
  HungDevice hung(nothing);
  EngineFixture& fixture = hung.fixture();
  hung.second().open();
  const JobId id = fixture.submitted("demo", 1);
  hung.first().await_arrivals(1);
  lost_device(fixture);
  CHECK(fixture.final_status(id).record.state == JobState::kDone);
  shm::Target target;
  target.path = fixture.segment_path();
  shm::Attachment attachment(target);
  const auto& verdict = attachment.observe().verdict;
  CHECK(verdict.word == shm::VerdictWord::kDegraded);
  CHECK_THAT(verdict.reason, Catch::Matchers::Contains("is lost: its worker"));
  hung.first().open();
  await_stale_events(fixture, 1);
}

}  // namespace
}  // namespace vitrine::engine::testing
