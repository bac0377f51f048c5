// SPDX-License-Identifier: Apache-2.0
// A thread that is stuck: every reader says which, and nobody else is held up.
#include <catch2/catch.hpp>
#include <thread>

#include "engine/engine_start.h"
#include "engine/heartbeat.h"
#include "engine/state.h"
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

// Of a few, since a busy host may keep a reader waiting for its core.
std::chrono::nanoseconds fastest_look(shm::Attachment& attachment) {
  std::chrono::nanoseconds fastest = std::chrono::seconds(1);
  for (int look = 0; look < 5; ++look) {
    const auto before = std::chrono::steady_clock::now();
    attachment.observe();
    fastest =
        std::min<std::chrono::nanoseconds>(fastest, std::chrono::steady_clock::now() - before);
  }
  return fastest;
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
  CHECK(fastest_look(attachment) < std::chrono::milliseconds(10));
  // The engine still takes work and shows it, and its heart goes on beating.
  fixture.submitted("multiplier", 1);
  const std::uint64_t beat = hung.heartbeat;
  fixture.snapshot_when([&](const shm::Snapshot& now) { return now.heartbeat > beat; });
  gate.open();
  CHECK(fixture.final_status(id).record.state == shm::JobState::kDone);
  fixture.await([&] { return attachment.observe().verdict.word != shm::VerdictWord::kHung; });
}

TEST_CASE("a thread that is stuck while it loads a key is named, and other circuits go on",
          "[E11]") {
  Gate gate;
  EngineFixture fixture({}, [&](EngineOptions& options) {
    options.configuration.step_limit_ns = 200'000'000;
    options.configuration.key_loaders = 2;
    options.key_reader = [&](const auto& path, const auto& how, auto& threads) {
      if (path.parent_path().filename() == "multiplier") gate.pass();
      return load_proving_key(path, how, threads);
    };
  });
  const JobId id = fixture.submitted("multiplier", 1);
  gate.await_arrivals(1);
  shm::Target target;
  target.path = fixture.segment_path();
  shm::Attachment attachment(target);
  fixture.await([&] { return attachment.observe().verdict.word == shm::VerdictWord::kHung; });
  CHECK_THAT(attachment.last().verdict.reason, Contains("key-loader-"));
  CHECK(fixture.final_status(fixture.submitted("demo", 1)).record.state == shm::JobState::kDone);
  gate.open();
  CHECK(fixture.final_status(id).record.state == shm::JobState::kDone);
  fixture.await([&] { return attachment.observe().verdict.word != shm::VerdictWord::kHung; });
}

// Where everything is decided: a thread that stops there stops all the others at their next step.
TEST_CASE("readers of an engine that is stuck in a change read on, and see it hung", "[E11]") {
  const ScratchFolder scratch("/dev/shm");
  EngineOptions options;
  options.configuration.instance = "stuck";
  options.configuration.segment = scratch / "stuck.segment";
  options.configuration.memory_budget_bytes = std::uint64_t{64} << 20;
  auto publication = publish_segment(options).value();
  EngineState state(std::move(publication.writer), make_model(options, 1).value(), nullptr);
  state.change([](Change& change) {
    change.publish().started(change.model());
    change.set_life(shm::EngineLife::kReady);
  });
  Heartbeat heartbeat(state);
  shm::Attachment attachment(shm::Target{.path = options.configuration.segment});
  CHECK(attachment.observe().verdict.word == shm::VerdictWord::kIdle);
  const std::uint64_t commit = attachment.last().snapshot->commit;
  Gate gate;
  std::thread scheduler([&] { state.change([&](Change&) { gate.pass(); }); });
  gate.await_arrivals(1);
  const auto minute = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  CHECK(fastest_look(attachment) < std::chrono::milliseconds(10));
  while (attachment.observe().verdict.word != shm::VerdictWord::kHung) {
    REQUIRE(std::chrono::steady_clock::now() < minute);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK(attachment.last().snapshot->consistent);
  CHECK(attachment.last().snapshot->commit >= commit);
  CHECK_THAT(attachment.last().verdict.reason, Contains("heartbeat"));
  gate.open();
  scheduler.join();
  while (attachment.observe().verdict.word != shm::VerdictWord::kIdle) {
    REQUIRE(std::chrono::steady_clock::now() < minute);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  heartbeat.stop();
}

}  // namespace
}  // namespace vitrine::engine::testing
