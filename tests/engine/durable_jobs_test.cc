// SPDX-License-Identifier: Apache-2.0
// Jobs with a store: durable before they run, shown as ended when their end is, taken up again.
#include <catch2/catch.hpp>
#include <thread>

#include "tests/engine/durable_fixture.h"

namespace vitrine::engine::testing {
namespace {

using Catch::Matchers::Contains;
using shm::JobState;

ScriptedBackend::Script hold(Gate& gate) {
  return [&gate](ScriptedStage stage, unsigned) {
    if (stage == ScriptedStage::kSynthesize) gate.pass();
    return Result<void>();
  };
}

std::string stored_value(const DurableFixture& durable, const std::string& sql) {
  return SqliteDatabase::open(durable.store_path(), SqliteDatabase::Access::kRead)
      .value()
      .value(sql.c_str())
      .value();
}

std::string step_of(const shm::Snapshot& snapshot, std::string_view thread) {
  for (const auto& row : snapshot.rows<shm::ThreadRecord>()) {
    if (row.name.view() == thread) return std::string(row.step.view());
  }
  return "";
}

TEST_CASE("a job is in the store when its submit is answered, and its end when that is shown") {
  DurableFixture durable;
  durable.engine().set_pause(Engine::Pause::kOn);
  const std::string job = std::to_string(durable.received(durable.request("", 2)).job);
  CHECK(stored_value(durable, "SELECT count(*) FROM witness WHERE job=" + job) == "2");
  CHECK(stored_value(durable, "SELECT finished IS NULL FROM job WHERE id=" + job) == "1");
  CHECK(durable.spooled_files() == 2);
  durable.engine().set_pause(Engine::Pause::kOff);
  CHECK(durable.final_status(std::stoull(job)).record.state == JobState::kDone);
  CHECK(stored_value(durable, "SELECT count(*) FROM proof WHERE job=" + job) == "2");
  CHECK(stored_value(durable, "SELECT count(*) FROM witness WHERE job=" + job) == "0");
  durable.fixture().await([&] { return durable.spooled_files() == 0; });
}

TEST_CASE("a job that is not durable yet is shown as received and does not start") {
  DurableFixture durable;
  JobId id = 0;
  JobRequest request = durable.request("");
  std::thread submitter;
  {
    StoreBlocker blocker(durable.store_path());
    submitter = std::thread([&] { id = durable.engine().submit(std::move(request)).value(); });
    const auto now = durable.fixture().snapshot_when(
        [](const shm::Snapshot& shown) { return !shown.rows<shm::JobRecord>().empty(); });
    CHECK(now.rows<shm::JobRecord>().at(0).state == JobState::kReceived);
    CHECK(now.engine().synthesis_active == 0);
    CHECK(step_of(now, "job-store") == "writing");
  }
  submitter.join();
  CHECK(durable.final_status(id).record.state == JobState::kDone);
  CHECK(step_of(durable.fixture().snapshot(), "job-store") == "waiting");
}

TEST_CASE("a store that cannot be written refuses jobs, degrades the engine and heals") {
  DurableFixture durable;
  {
    StoreBlocker blocker(durable.store_path());
    const Reception refused = durable.engine().receive(durable.request("mine"));
    REQUIRE(refused.has_error());
    CHECK(refused.error().reason == RefusalReason::kStorage);
    CHECK_THAT(refused.error().text, Contains("the job store") && Contains("locked"));
    const auto now = durable.fixture().snapshot_when(
        [](const shm::Snapshot& shown) { return shown.life == shm::EngineLife::kDegraded; });
    CHECK_THAT(std::string(now.engine().degraded_reason.view()), Contains("the job store"));
    CHECK(now.rows<shm::CountersRecord>().at(0).refused == 1);
    CHECK(durable.spooled_files() == 0);
  }
  durable.fixture().snapshot_when(
      [](const shm::Snapshot& shown) { return shown.life == shm::EngineLife::kReady; });
  const JobId id = durable.received(durable.request("mine")).job;
  const JobStatus status = durable.final_status(id);
  CHECK(status.record.state == JobState::kDone);
  CHECK(status.record.attempt == 1);
}

TEST_CASE("a job whose end cannot be written is shown all the same, and is written later") {
  Gate gate;
  DurableFixture durable(hold(gate));
  const JobId id = durable.received(durable.request("mine")).job;
  gate.await_arrivals(1);
  {
    StoreBlocker blocker(durable.store_path());
    gate.open();
    CHECK(durable.final_status(id).record.state == JobState::kDone);
    CHECK(durable.engine().result(id) != nullptr);
    CHECK_FALSE(durable.engine().past_job(id).value().has_value());
  }
  durable.fixture().await([&] { return durable.engine().past_job(id).value().has_value(); });
  CHECK(*durable.engine().past_result(id).value() == *durable.engine().result(id));
}

TEST_CASE("a job that is about to end cannot be cancelled any more, and says so") {
  Gate gate;
  DurableFixture durable(hold(gate));
  const JobId id = durable.received(durable.request("")).job;
  gate.await_arrivals(1);
  {
    StoreBlocker blocker(durable.store_path());
    gate.open();
    durable.fixture().snapshot_when(
        [&](const shm::Snapshot& now) { return job_row(now, id).state == JobState::kAssembling; });
    // Between the state and the hand-over the result is assembled, and a cancel is in time.
    if (durable.engine().cancel(id) == CancelOutcome::kTooLate) blocker.release();
  }
  const JobState state = durable.final_status(id).record.state;
  CHECK((state == JobState::kDone || state == JobState::kCancelled));
  CHECK(durable.engine().past_job(id).value()->record.state == state);
}

TEST_CASE("a result is answered when its row has gone to another job, and after a restart") {
  const auto small = [](EngineOptions& options) { options.capacity.jobs = 2; };
  DurableFixture durable({}, small);
  const JobId id = durable.received(durable.request("", 2)).job;
  durable.final_status(id);
  const std::string result = *durable.engine().result(id);
  for (int i = 0; i < 3; ++i) durable.final_status(durable.received(durable.request("")).job);
  for (int start = 0; start < 2; ++start) {
    CHECK_FALSE(durable.engine().status(id).has_value());
    const auto past = durable.engine().past_job(id).value();
    REQUIRE(past.has_value());
    CHECK(past->record.state == JobState::kDone);
    CHECK(past->record.partitions_done == 2);
    CHECK(*durable.engine().past_result(id).value() == result);
    CHECK(durable.engine().past_proof(id, 1).value() != nullptr);
    CHECK(durable.engine().cancel(id) == CancelOutcome::kUnknown);
    durable.stop();
    durable.start();
  }
}

TEST_CASE("a drain leaves what waits and what was stopped for the next start, which does it") {
  Gate gate;
  DurableFixture durable(hold(gate));
  const JobId running = durable.received(durable.request("run", 3)).job;
  gate.await_arrivals(1);
  const JobId waiting = durable.received(durable.request("wait", 2)).job;
  const JobId unwanted = durable.received(durable.request("unwanted")).job;
  const auto minute = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  std::optional<bool> has_drained;
  std::thread drainer([&] { has_drained = durable.engine().drain(minute); });
  const auto draining = durable.fixture().snapshot_when(
      [](const shm::Snapshot& now) { return now.life == shm::EngineLife::kDraining; });
  CHECK(job_row(draining, waiting).state == JobState::kQueued);
  CHECK(job_row(draining, waiting).wait_reason == shm::WaitReason::kPaused);
  CHECK(durable.engine().status(waiting)->is_left);
  CHECK_FALSE(durable.engine().status(running)->is_left);
  CHECK(durable.engine().cancel(unwanted) == CancelOutcome::kStopping);
  CHECK(durable.final_status(unwanted).record.state == JobState::kCancelled);
  durable.engine().hurry();
  durable.fixture().snapshot_when([&](const shm::Snapshot& now) {
    return job_row(now, running).failure_class == shm::FailureClass::kLost;
  });
  gate.open();
  drainer.join();
  CHECK(has_drained == true);
  CHECK(durable.engine().status(running)->record.state == JobState::kQueued);
  // Who waits for it is not held up for ever.
  CHECK_FALSE(durable.engine().wait(running, minute)->is_final());
  durable.stop();
  CHECK(durable.spooled_files() == 5);
  durable.start();
  for (const JobId id : {running, waiting}) {
    const JobStatus status = durable.final_status(id);
    CHECK(status.record.state == JobState::kDone);
    CHECK(status.record.attempt == 2);
    CHECK_FALSE(durable.engine().result(id)->empty());
  }
  CHECK(durable.engine().past_job(unwanted).value()->record.state == JobState::kCancelled);
  CHECK(durable.received(durable.request("more")).job > unwanted);
}

TEST_CASE("a job that cannot be taken up again ends as lost, and says why") {
  DurableFixture durable;
  durable.engine().set_pause(Engine::Pause::kOn);
  const JobId good = durable.received(durable.request("", 2)).job;
  const JobId bad = durable.received(durable.request("", 2)).job;
  const JobId gone = durable.received(durable.request("", 1, "multiplier")).job;
  durable.stop();
  std::string why;
  SECTION("its witness is gone") {
    std::filesystem::remove(durable.spool_path() / "3.wtns");
    why = "witness 1";
  }
  SECTION("its witness is not whole") {
    std::filesystem::resize_file(durable.spool_path() / "3.wtns", 10);
    why = "has 10 bytes";
  }
  durable.start({}, [](EngineOptions& options) { options.configuration.circuits.resize(1); });
  CHECK(durable.final_status(good).record.state == JobState::kDone);
  const JobStatus lost = durable.final_status(bad);
  CHECK(lost.record.state == JobState::kLost);
  CHECK(lost.record.failure_class == shm::FailureClass::kLost);
  CHECK_THAT(lost.failure, Contains(why));
  durable.fixture().await([&] { return durable.engine().past_job(gone).value().has_value(); });
  const auto unseen = durable.engine().past_job(gone).value();
  CHECK(unseen->record.state == JobState::kLost);
  CHECK_THAT(unseen->failure, Contains("multiplier is not configured"));
  durable.fixture().await([&] { return durable.spooled_files() == 0; });
  durable.fixture().check_quiet();
  durable.stop();
  durable.start();
  CHECK(durable.engine().past_job(bad).value()->record.state == JobState::kLost);
}

TEST_CASE("a client's own file is taken up again by its path, and never removed") {
  DurableFixture durable;
  durable.engine().set_pause(Engine::Pause::kOn);
  const ScratchFolder own;
  JobRequest requests[2];
  for (int i = 0; i < 2; ++i) {
    const auto path = own / (std::to_string(i) + ".wtns");
    std::filesystem::copy_file(circuit_folder("bn128", "demo") / "witness.1.wtns", path);
    requests[i].circuit = "demo";
    requests[i].witnesses.push_back({path, nullptr});
  }
  const JobId good = durable.received(std::move(requests[0])).job;
  const JobId bad = durable.received(std::move(requests[1])).job;
  durable.stop();
  std::filesystem::remove(own / "1.wtns");
  durable.start();
  CHECK(durable.final_status(good).record.state == JobState::kDone);
  CHECK_THAT(durable.final_status(bad).failure, Contains(own / "1.wtns"));
  CHECK(std::filesystem::exists(own / "0.wtns"));
}

TEST_CASE("a start that is refused loses no witness") {
  DurableFixture durable;
  durable.engine().set_pause(Engine::Pause::kOn);
  const JobId id = durable.received(durable.request("")).job;
  durable.stop();
  {
    const auto spool = Spool::open(durable.spool_path(), 1 << 20).value();
    const auto store = JobStore::open(durable.store_path(), {}).value();
    CHECK(take_up_jobs(*store, *spool, 0).value().size() == 1);
  }
  durable.start();
  CHECK(durable.final_status(id).record.state == JobState::kDone);
  CHECK(durable.final_status(id).record.attempt == 3);
}

}  // namespace
}  // namespace vitrine::engine::testing
