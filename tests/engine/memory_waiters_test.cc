// SPDX-License-Identifier: Apache-2.0
// Who waits for memory goes on as soon as it is there, however it comes to be there (case E5).
#include <algorithm>
#include <catch2/catch.hpp>
#include <thread>

#include "shm/segment_reader.h"
#include "tests/engine/engine_fixture.h"

namespace vitrine::engine::testing {
namespace {

using shm::JobState;
using shm::WaitReason;

constexpr std::uint64_t kMillisecond = 1'000'000;
constexpr std::uint64_t kSoon = 100 * kMillisecond;
constexpr unsigned kRounds = 12;

std::uint64_t largest_need() { return std::max(peak_bytes("demo"), peak_bytes("bls")); }

std::uint64_t last_event_ns(EngineFixture& fixture, shm::EventType type) {
  auto reader = shm::SegmentReader::attach(fixture.segment_path());
  REQUIRE(reader.has_value());
  std::uint64_t last_ns = 0;
  const auto batch = reader->events_after(0, 16384);
  for (const shm::Event& event : batch->events) {
    if (event.type == type) last_ns = std::max(last_ns, event.time.ns);
  }
  return last_ns;
}

void await_memory_wait(EngineFixture& fixture, JobId id) {
  fixture.snapshot_when([&](const shm::Snapshot& now) {
    return job_row(now, id).wait_reason == WaitReason::kMemory;
  });
}

// The bytes were there when `holder` had ended and the keys that were evicted were gone: then the
// waiter's key begins to be loaded, or, when it is there, its partition.
void check_goes_on_soon(EngineFixture& fixture, const JobStatus& holder, const JobStatus& waiter) {
  const std::uint64_t able_ns =
      std::max(holder.record.finished.ns, last_event_ns(fixture, shm::EventType::kEvict));
  const std::uint64_t load_ns = last_event_ns(fixture, shm::EventType::kLoad);
  const std::uint64_t begun_ns = load_ns >= able_ns ? load_ns : waiter.record.admitted.ns;
  CHECK(begun_ns < able_ns + kSoon);
}

TEST_CASE("a waiter goes on at once when a release and the eviction that it asked for coincide",
          "[E5]") {
  const std::uint64_t budget_bytes = largest_need();
  for (unsigned round = 0; round < kRounds; ++round) {
    Gate gate;
    EngineFixture fixture(
        [&](ScriptedStage stage, unsigned call) -> Result<void> {
          if (stage == ScriptedStage::kVerify && call == 1) gate.pass();
          return {};
        },
        [&](EngineOptions& options) {
          options.configuration.memory_budget_bytes = budget_bytes;
          options.configuration.eviction_min_idle_ns = (1 + round % 4) * 5 * kMillisecond;
        });
    fixture.final_status(fixture.submitted("demo", 1));
    const JobId user = fixture.submitted("demo", 1);
    gate.await_arrivals(1);
    const JobId waiting = fixture.submitted("bls", 1);
    await_memory_wait(fixture, waiting);
    gate.open();  // the key's idle time begins to run now
    const JobStatus holder = fixture.final_status(user);
    const JobStatus waiter = fixture.final_status(waiting);
    CHECK(holder.record.state == JobState::kDone);
    CHECK(waiter.record.state == JobState::kDone);
    check_goes_on_soon(fixture, holder, waiter);
    fixture.check_quiet();
  }
}

TEST_CASE("a waiter goes on when the key that was being loaded has come and gone", "[E5]") {
  const bool fails = GENERATE(true, false);
  CAPTURE(fails);
  const std::uint64_t budget_bytes = largest_need();
  Gate gate;
  EngineFixture fixture({}, [&](EngineOptions& options) {
    options.configuration.memory_budget_bytes = budget_bytes;
    options.configuration.eviction_min_idle_ns = 0;
    options.configuration.key_loaders = 2;
    options.key_reader = [&](const auto& path, const auto& how,
                             auto& threads) -> Result<std::shared_ptr<const ProvingKey>> {
      const bool is_bls = path.parent_path().parent_path().filename() == "bls12381";
      if (is_bls) return load_proving_key(path, how, threads);
      gate.pass();
      if (fails) return bad_input("a bad point");
      return load_proving_key(path, how, threads);
    };
  });
  const JobId loading = fixture.submitted("demo", 1);
  gate.await_arrivals(1);
  const JobId waiting = fixture.submitted("bls", 1);
  await_memory_wait(fixture, waiting);
  gate.open();
  const JobStatus loaded = fixture.final_status(loading);
  CHECK(loaded.record.state == (fails ? JobState::kFailed : JobState::kDone));
  const JobStatus waiter = fixture.final_status(waiting);
  CHECK(waiter.record.state == JobState::kDone);
  check_goes_on_soon(fixture, loaded, waiter);
  fixture.check_quiet();
}

TEST_CASE("a waiter goes on when the partition that holds the bytes has ended", "[E5]") {
  const std::uint64_t budget_bytes = peak_bytes("demo") + 1000;
  Gate gate;
  EngineFixture fixture(
      [&](ScriptedStage stage, unsigned call) -> Result<void> {
        if (stage == ScriptedStage::kFinish && call == 0) gate.pass();
        return {};
      },
      [&](EngineOptions& options) { options.configuration.memory_budget_bytes = budget_bytes; });
  const JobId holder = fixture.submitted("demo", 1);
  gate.await_arrivals(1);
  const JobId waiting = fixture.submitted("demo", 1);
  await_memory_wait(fixture, waiting);
  gate.open();
  const JobStatus ended = fixture.final_status(holder);
  const JobStatus waiter = fixture.final_status(waiting);
  CHECK(waiter.record.state == JobState::kDone);
  check_goes_on_soon(fixture, ended, waiter);
  fixture.check_quiet();
}

}  // namespace
}  // namespace vitrine::engine::testing
