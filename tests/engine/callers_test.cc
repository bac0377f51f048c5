// SPDX-License-Identifier: Apache-2.0
// Many callers at one moment, each of whom wants an answer of his own (case E1).
#include <catch2/catch.hpp>
#include <set>
#include <thread>

#include "tests/engine/engine_fixture.h"

namespace vitrine::engine::testing {
namespace {

using shm::JobState;
using shm::Priority;

constexpr unsigned kNormal = 8;
constexpr unsigned kCallers = 10;  // the last two are critical

TEST_CASE("ten callers at once, two of them critical, get ten results while the device is busy",
          "[E1]") {
  Gate gate;
  EngineFixture fixture([&](ScriptedStage stage, unsigned call) -> Result<void> {
    if (stage == ScriptedStage::kStart && call == 0) gate.pass();
    return {};
  });
  const JobId busy = fixture.submitted("demo", 1);
  gate.await_arrivals(1);
  std::vector<JobId> ids(kCallers);
  std::vector<std::string> results(kCallers);
  std::vector<std::thread> callers;
  for (unsigned caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back([&, caller] {
      const auto priority = caller < kNormal ? Priority::kNormal : Priority::kCritical;
      const Submission submitted = fixture.submit("demo", 1, priority);
      if (!submitted) return;
      ids[caller] = *submitted;
      const auto minute = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      const auto status = fixture.engine().wait(*submitted, minute);
      const auto result = fixture.engine().result(*submitted);
      if (status && status->record.state == JobState::kDone && result) results[caller] = *result;
    });
  }
  const auto waiting = fixture.snapshot_when(
      [](const shm::Snapshot& now) { return now.rows<shm::JobRecord>().size() == kCallers + 1; });
  for (const shm::JobRecord& job : waiting.rows<shm::JobRecord>()) {
    CHECK_FALSE(shm::is_final(job.state));
  }
  gate.open();
  for (std::thread& caller : callers) caller.join();
  CHECK(fixture.final_status(busy).record.state == JobState::kDone);
  CHECK(std::set(ids.begin(), ids.end()).size() == kCallers);
  // Each proof is blinded anew, so nobody was given another's.
  CHECK(std::set(results.begin(), results.end()).size() == kCallers);
  CHECK(std::ranges::count(results, std::string()) == 0);
  const shm::CountersRecord kind = fixture.snapshot().rows<shm::CountersRecord>().at(0);
  CHECK(kind.submitted == kCallers + 1);
  CHECK(kind.done == kCallers + 1);
  fixture.check_quiet();
}

}  // namespace
}  // namespace vitrine::engine::testing
