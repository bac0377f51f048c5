// SPDX-License-Identifier: Apache-2.0
// The ways in which vitrined ends by SIGTERM, with work that runs and work that waits (case E14).
#include <signal.h>

#include <boost/json.hpp>
#include <catch2/catch.hpp>

#include "shm/attachment.h"
#include "shm/invariants.h"
#include "tests/engine/container_bytes.h"
#include "tests/engine/real_inputs.h"
#include "tests/engine/segment_watch.h"
#include "tests/system/daemon_process.h"

namespace vitrine::system_test {
namespace {

using Catch::Matchers::Contains;
using shm::JobState;

// An engine at work on one job, with another that waits for its batch to fill.
class BusyEngine {
 public:
  explicit BusyEngine(const std::vector<std::string>& more, unsigned partitions)
      : daemon_(site_, with_batches(more)), watch_(site_.segment()) {
    waiting_ = job_of(post("normal", 1));
    running_ = job_of(post("critical", partitions));
    seen([&](const shm::Snapshot& now) { return row(now, running_).partitions_done > 0; });
  }

  const Site& site() const { return site_; }
  RunningDaemon& daemon() { return daemon_; }
  const std::string& running() const { return running_; }
  const std::string& waiting() const { return waiting_; }

  ApiAnswer post(const std::string& priority, unsigned partitions) const {
    const auto file = engine::testing::circuit_folder("bn128", "demo") / "witness.1.wtns";
    const std::vector<std::string> witnesses(partitions, engine::testing::read_file(file));
    return ApiClient(site_.socket())
        .post_form("/v1/jobs?circuit=demo&priority=" + priority, witnesses);
  }
  shm::Snapshot seen(const std::function<bool(const shm::Snapshot&)>& ready) {
    return snapshot_when(daemon_, site_.segment(), ready);
  }
  static const shm::JobRecord& row(const shm::Snapshot& now, const std::string& job) {
    const auto& jobs = now.rows<shm::JobRecord>();
    const auto found = std::ranges::find(jobs, std::stoull(job),
                                         [](const shm::JobRecord& one) { return one.job.value; });
    REQUIRE(found != jobs.end());
    return *found;
  }
  // What the engine that has ended left.
  shm::Snapshot last() {
    for (const std::string& violation : watch_.stop()) FAIL_CHECK(violation);
    auto reader = shm::SegmentReader::attach(site_.segment());
    REQUIRE(reader.has_value());
    shm::Snapshot snapshot;
    REQUIRE(reader->snapshot(snapshot).has_value());
    CHECK(snapshot.life == shm::EngineLife::kClosed);
    CHECK(snapshot.exit_code == 0);
    for (const auto& violation : shm::check_invariants(snapshot, nullptr)) FAIL_CHECK(violation);
    return snapshot;
  }

 private:
  static std::vector<std::string> with_batches(std::vector<std::string> more) {
    more.insert(more.end(), {"--max-batch-size", "8", "--max-batch-wait", "1h"});
    return more;
  }
  static std::string job_of(const ApiAnswer& answer) {
    REQUIRE(answer.status == 202);
    return boost::json::parse(answer.body).at("job").as_string().c_str();
  }

  Site site_;
  RunningDaemon daemon_;
  engine::testing::SegmentWatch watch_;
  std::string running_, waiting_;
};

std::string state_of(const Site& site, const std::string& job) {
  const ApiAnswer answer = ApiClient(site.socket()).get("/v1/jobs/" + job);
  REQUIRE(answer.status == 200);
  return boost::json::parse(answer.body).at("state").as_string().c_str();
}

// Visible to every reader, with counts; new work is refused and counted.
void check_draining(BusyEngine& engine) {
  // The life is a word of its own; the rows follow with the next commit.
  const auto draining = engine.seen([&](const shm::Snapshot& now) {
    return now.life == shm::EngineLife::kDraining &&
           BusyEngine::row(now, engine.waiting()).wait_reason == shm::WaitReason::kPaused;
  });
  CHECK(BusyEngine::row(draining, engine.running()).state == JobState::kRunning);
  const shm::JobRecord& waiting = BusyEngine::row(draining, engine.waiting());
  CHECK(waiting.state == JobState::kQueued);
  shm::Attachment attachment(shm::Target{.path = engine.site().segment()});
  const shm::Verdict verdict = attachment.observe().verdict;
  CHECK(verdict.word == shm::VerdictWord::kDraining);
  CHECK_THAT(verdict.reason, Contains("job"));
  const ApiAnswer refused = engine.post("normal", 1);
  CHECK(refused.status == 503);
  CHECK_THAT(refused.body, Contains("the engine is draining and takes no new jobs"));
  const auto counted = engine.seen(
      [](const shm::Snapshot& now) { return now.rows<shm::CountersRecord>().at(0).refused == 1; });
  CHECK(counted.life == shm::EngineLife::kDraining);
  CHECK(state_of(engine.site(), engine.waiting()) == "queued");
}

TEST_CASE("after SIGTERM running work ends, waiting work stays for the next start, exit 0",
          "[E14]") {
  BusyEngine engine({"--drain-timeout", "10m"}, 128);
  engine.daemon().signal(SIGTERM);
  check_draining(engine);
  CHECK(engine.daemon().exit_code() == 0);
  const shm::Snapshot last = engine.last();
  CHECK(BusyEngine::row(last, engine.running()).state == JobState::kDone);
  CHECK(BusyEngine::row(last, engine.waiting()).state == JobState::kQueued);
  CHECK(last.memory().working_bytes == 0);
  RunningDaemon next(engine.site());
  CHECK(final_state(engine.site(), engine.running()) == "done");
  CHECK(final_state(engine.site(), engine.waiting()) == "done");
}

TEST_CASE("a second SIGTERM ends an engine at once with exit 0, and all work stays", "[E14]") {
  BusyEngine engine({"--drain-timeout", "10m"}, 256);
  engine.daemon().signal(SIGTERM);
  check_draining(engine);
  engine.daemon().signal(SIGTERM);
  CHECK(engine.daemon().exit_code() == 0);
  const shm::Snapshot last = engine.last();
  const shm::JobRecord& running = BusyEngine::row(last, engine.running());
  CHECK(running.state == JobState::kQueued);
  CHECK(running.partitions_done < 256);
  CHECK(last.memory().working_bytes == 0);
  RunningDaemon next(engine.site());
  CHECK(ApiClient(engine.site().socket())
            .send("DELETE", "/v1/jobs/" + engine.running(), "", "")
            .status < 300);
  CHECK(final_state(engine.site(), engine.running()) == "cancelled");
  CHECK(final_state(engine.site(), engine.waiting()) == "done");
}

TEST_CASE("when the time to drain is over an engine ends with exit 0, and all work stays",
          "[E14]") {
  BusyEngine engine({"--drain-timeout", "50ms"}, 256);
  engine.daemon().signal(SIGTERM);
  CHECK(engine.daemon().exit_code() == 0);
  const shm::Snapshot last = engine.last();
  CHECK(BusyEngine::row(last, engine.running()).state == JobState::kQueued);
  CHECK(BusyEngine::row(last, engine.waiting()).state == JobState::kQueued);
  CHECK_THAT(engine.daemon().log(), Contains("the time to drain is over"));
}

}  // namespace
}  // namespace vitrine::system_test
