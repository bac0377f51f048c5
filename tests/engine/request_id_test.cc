// SPDX-License-Identifier: Apache-2.0
// The same request id again and again: one job for what a client wants (case E13).
#include <catch2/catch.hpp>
#include <set>
#include <thread>

#include "tests/engine/durable_fixture.h"

namespace vitrine::engine::testing {
namespace {

using Catch::Matchers::Contains;
using shm::JobState;
using Novelty = Acceptance::Novelty;

ScriptedBackend::Script hold(Gate& gate) {
  return [&gate](ScriptedStage stage, unsigned) {
    if (stage == ScriptedStage::kSynthesize) gate.pass();
    return Result<void>();
  };
}

TEST_CASE("a request id leads to one job before, while and after it runs, also after a restart",
          "[E13]") {
  Gate gate;
  DurableFixture durable(hold(gate));
  durable.engine().set_pause(Engine::Pause::kOn);
  const Acceptance first = durable.received(durable.request("mine", 2));
  CHECK(first.novelty == Novelty::kNew);
  const auto again = [&] {
    const Acceptance known = durable.received(durable.request("mine", 2));
    CHECK(known.job == first.job);
    CHECK(known.novelty == Novelty::kKnown);
  };
  again();
  durable.engine().set_pause(Engine::Pause::kOff);
  gate.await_arrivals(1);
  again();
  CHECK(durable.spooled_files() == 2);  // those that came along were dropped
  gate.open();
  CHECK(durable.final_status(first.job).record.state == JobState::kDone);
  again();
  durable.stop();
  durable.start();
  again();
  CHECK(durable.engine().past_job(first.job).value()->record.attempt == 1);
  CHECK(durable.engine().jobs().empty());
}

TEST_CASE("submits of one request id at the same moment make one job", "[E13]") {
  DurableFixture durable;
  constexpr int kThreads = 8;
  std::vector<JobRequest> requests;
  for (int i = 0; i < kThreads; ++i) requests.push_back(durable.request("mine"));
  std::atomic<int> made{0};
  std::vector<JobId> ids(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      const Reception received = durable.engine().receive(std::move(requests[i]));
      if (!received) return;
      ids[i] = received->job;
      made += received->novelty == Novelty::kNew;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(made == 1);
  CHECK(std::set<JobId>(ids.begin(), ids.end()).size() == 1);
  CHECK(durable.final_status(ids[0]).record.state == JobState::kDone);
}

TEST_CASE("after an end without a result the request id makes a new job, one attempt more",
          "[E13]") {
  std::atomic<bool> fails{true};
  DurableFixture durable([&](ScriptedStage, unsigned) {
    return fails ? Result<void>(Error{ErrorClass::kDeviceError, "scripted"}) : Result<void>();
  });
  std::set<JobId> ids;
  for (unsigned attempt = 1; attempt <= 3; ++attempt) {
    const Acceptance made = durable.received(durable.request("mine"));
    CHECK(made.novelty == Novelty::kNew);
    CHECK(ids.insert(made.job).second);
    const JobStatus status = durable.final_status(made.job);
    CHECK(status.record.state == JobState::kFailed);
    CHECK(status.record.attempt == attempt);
  }
  fails = false;
  durable.engine().set_pause(Engine::Pause::kOn);
  const JobId unwanted = durable.received(durable.request("mine")).job;
  CHECK(durable.engine().cancel(unwanted) == CancelOutcome::kStopping);
  CHECK(durable.final_status(unwanted).record.state == JobState::kCancelled);
  durable.engine().set_pause(Engine::Pause::kOff);
  const JobId last = durable.received(durable.request("mine")).job;
  CHECK(durable.final_status(last).record.attempt == 5);
  CHECK(durable.received(durable.request("mine")).job == last);
}

TEST_CASE("a request id of another circuit or size is a conflict that names the job") {
  DurableFixture durable;
  const JobId id = durable.received(durable.request("mine", 2)).job;
  const auto conflict = [&](JobRequest request) {
    const Reception refused = durable.engine().receive(std::move(request));
    REQUIRE(refused.has_error());
    CHECK(refused.error().reason == RefusalReason::kConflict);
    CHECK_THAT(refused.error().text, Contains(std::to_string(id)) && Contains("circuit demo") &&
                                         Contains("2 partitions"));
  };
  conflict(durable.request("mine", 1));
  conflict(durable.request("mine", 2, "multiplier"));
  durable.final_status(id);
  conflict(durable.request("mine", 3));
  CHECK(durable.fixture().snapshot().rows<shm::CountersRecord>().at(0).submitted == 1);
}

TEST_CASE("a known request id is answered though the queue is full or the engine drains") {
  Gate gate;
  DurableFixture durable(
      hold(gate), [](EngineOptions& options) { options.configuration.job_queue_capacity = 1; });
  const JobId running = durable.received(durable.request("runs", 2)).job;
  gate.await_arrivals(1);
  const JobId waiting = durable.received(durable.request("waits")).job;
  JobRequest head;
  head.circuit = "demo";
  head.request_id = "new";
  CHECK(durable.engine().refuse_in_advance(head)->reason == RefusalReason::kQueueFull);
  head.request_id = "waits";
  CHECK_FALSE(durable.engine().refuse_in_advance(head).has_value());
  CHECK(durable.received(durable.request("waits")).job == waiting);
  gate.open();
  durable.final_status(running);
  CHECK(durable.engine().drain(std::chrono::steady_clock::now() + std::chrono::seconds(60)));
  CHECK_FALSE(durable.engine().refuse_in_advance(head).has_value());
  CHECK(durable.received(durable.request("runs", 2)).job == running);
  head.request_id = "new";
  CHECK(durable.engine().refuse_in_advance(head)->reason == RefusalReason::kDraining);
}

TEST_CASE("a request id is free again when its job is not kept any more") {
  SECTION("without a store, when the row goes") {
    EngineFixture fixture({}, [](EngineOptions& options) { options.capacity.jobs = 1; });
    const auto submit = [&](const std::string& id) {
      JobRequest request;
      request.circuit = "demo";
      request.request_id = id;
      request.witnesses.push_back({circuit_folder("bn128", "demo") / "witness.1.wtns", nullptr});
      const JobId job = fixture.engine().submit(std::move(request)).value();
      fixture.final_status(job);
      return job;
    };
    const JobId first = submit("mine");
    CHECK(submit("mine") == first);
    submit("other");
    CHECK(submit("mine") != first);
  }
  SECTION("with a store, when the result goes") {
    DurableFixture durable;
    const JobId first = durable.received(durable.request("mine")).job;
    durable.final_status(first);
    durable.stop();
    durable.limits.jobs = 0;
    durable.start();
    Acceptance made;
    durable.fixture().await([&] {
      made = durable.received(durable.request("mine"));
      return made.job != first;
    });
    CHECK(durable.final_status(made.job).record.attempt == 1);
  }
}

}  // namespace
}  // namespace vitrine::engine::testing
