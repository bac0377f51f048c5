// SPDX-License-Identifier: Apache-2.0
// A thread that is stuck: every reader says which, and nobody else is held up.
#include <catch2/catch.hpp>

#include "shm/attachment.h"
#include "tests/engine/engine_fixture.h"

namespace vitrine::engine::testing {
namespace {

using Catch::Matchers::Contains;

struct StuckStage {
  ScriptedStage stage;
  const char* thread;
  const char* step;
};

const shm::ThreadRecord& thread_row(const shm::Snapshot& snapshot, std::string_view name) {
  for (const shm::ThreadRecord& thread : snapshot.rows<shm::ThreadRecord>()) {
    if (thread.name.view() == name) return thread;
  }
  FAIL("no thread " << name);
  std::abort();
}

TEST_CASE("a thread that is stuck in a stage makes the engine hung by name, and only that",
          "[E11]") {
  const auto stuck = GENERATE(StuckStage{ScriptedStage::kSynthesize, "synthesis-0", "synthesizing"},
                              StuckStage{ScriptedStage::kStart, "worker-0", "proving"},
                              StuckStage{ScriptedStage::kFinish, "worker-0", "finishing"},
                              StuckStage{ScriptedStage::kVerify, "worker-0", "verifying"});
  CAPTURE(stuck.thread, stuck.step);
  Gate gate;
  EngineFixture fixture(
      [&](ScriptedStage stage, unsigned call) -> Result<void> {
        if (stage == stuck.stage && call == 0) gate.pass();
        return {};
      },
      [](EngineOptions& options) {
        options.configuration.workers_per_device = 1;
        options.configuration.step_limit_ns = 200'000'000;
      });
  const JobId id = fixture.submitted("multiplier", 1);
  gate.await_arrivals(1);
  shm::Target target;
  target.path = fixture.segment_path();
  shm::Attachment attachment(target);
  fixture.await([&] { return attachment.observe().verdict.word == shm::VerdictWord::kHung; });
  CHECK_THAT(attachment.last().verdict.reason, Contains(stuck.thread) && Contains(stuck.step));
  const shm::Snapshot hung = fixture.snapshot();
  CHECK(thread_row(hung, stuck.thread).step.view() == stuck.step);
  for (const shm::ThreadRecord& thread : hung.rows<shm::ThreadRecord>()) {
    if (thread.name.view() != stuck.thread) CHECK(thread.limit_ns == 0);
  }
  // The engine still takes work and shows it, and its heart goes on beating.
  fixture.submitted("multiplier", 1);
  const std::uint64_t beat = hung.heartbeat;
  fixture.snapshot_when([&](const shm::Snapshot& now) { return now.heartbeat > beat; });
  gate.open();
  CHECK(fixture.final_status(id).record.state == shm::JobState::kDone);
  fixture.await([&] { return attachment.observe().verdict.word != shm::VerdictWord::kHung; });
}

}  // namespace
}  // namespace vitrine::engine::testing
