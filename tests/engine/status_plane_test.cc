// SPDX-License-Identifier: Apache-2.0
// What the segment says about the engine itself: threads, limiters, queues, times, errors, settings
// and history.
#include <algorithm>
#include <catch2/catch.hpp>

#include "shm/segment_reader.h"
#include "tests/engine/engine_fixture.h"

namespace vitrine::engine::testing {
namespace {

using shm::PartitionStage;

const shm::ThreadRecord& thread_row(const shm::Snapshot& snapshot, std::string_view name) {
  for (const auto& thread : snapshot.rows<shm::ThreadRecord>()) {
    if (thread.name.view() == name) return thread;
  }
  FAIL("no thread " << name);
  std::abort();
}

const shm::LimiterRecord& limiter_row(const shm::Snapshot& snapshot, std::string_view name) {
  for (const auto& limiter : snapshot.rows<shm::LimiterRecord>()) {
    if (limiter.name.view() == name) return limiter;
  }
  FAIL("no limiter " << name);
  std::abort();
}

// Holds the first call of a stage until it is let go.
class StageGate {
 public:
  explicit StageGate(ScriptedStage stage) : stage_(stage) {}
  ~StageGate() { open(); }
  Result<void> pass(ScriptedStage stage, unsigned call) {
    std::unique_lock lock(mutex_);
    if (stage == stage_ && call == 0) opened_.wait(lock, [this] { return is_open_; });
    return {};
  }
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    opened_.notify_all();
  }

 private:
  ScriptedStage stage_;
  std::mutex mutex_;
  std::condition_variable opened_;
  bool is_open_ = false;
};

}  // namespace

TEST_CASE("each thread shows its step, since when, its limit and what it has in hand") {
  StageGate gate(ScriptedStage::kStart);
  EngineFixture fixture([&](ScriptedStage stage, unsigned call) { return gate.pass(stage, call); },
                        [](EngineOptions& options) {
                          options.configuration.workers_per_device = 1;
                          options.configuration.step_limit_ns = 5'000'000'000'000;
                        });
  const JobId id = fixture.submitted("multiplier", 1);
  const auto proving = fixture.snapshot_when([](const shm::Snapshot& snapshot) {
    return thread_row(snapshot, "worker-0").step.view() == "proving";
  });
  const auto& worker = thread_row(proving, "worker-0");
  CHECK(worker.job == shm::Id{id});
  CHECK(worker.partition == shm::Index::of(0));
  CHECK(worker.worker == shm::Index::of(0));
  CHECK(worker.limit_ns == 5'000'000'000'000);
  CHECK(worker.since == proving.rows<shm::PartitionRecord>().front().gpu_start);
  CHECK(thread_row(proving, "synthesis-0").step.view() == "waiting");
  CHECK(thread_row(proving, "synthesis-0").limit_ns == 0);
  CHECK(thread_row(proving, "synthesis-0").beats == 2);
  CHECK(thread_row(proving, "key-loader-0").beats + thread_row(proving, "key-loader-1").beats == 2);
  CHECK(limiter_row(proving, "kernels").used == 1);
  gate.open();
  fixture.final_status(id);
  const auto quiet = fixture.snapshot_when([](const shm::Snapshot& snapshot) {
    return thread_row(snapshot, "worker-0").step.view() == "waiting";
  });
  CHECK(thread_row(quiet, "worker-0").job == shm::Id{});
  CHECK(thread_row(quiet, "worker-0").beats == 5);
  CHECK(limiter_row(quiet, "kernels").used == 0);
  CHECK(limiter_row(quiet, "kernels").used_peak == 1);
}

TEST_CASE("queues are counted by priority, with the age of the oldest, and as a whole") {
  EngineFixture fixture;
  fixture.engine().set_pause(Engine::Pause::kOn);
  std::vector<JobId> jobs;
  for (const shm::Priority priority :
       {shm::Priority::kLow, shm::Priority::kHigh, shm::Priority::kHigh}) {
    const Submission submission = fixture.submit("multiplier", 2, priority);
    REQUIRE(submission.has_value());
    jobs.push_back(*submission);
  }
  const auto waiting = fixture.snapshot();
  const auto depth = [&](shm::QueueName name, shm::Priority priority) {
    for (const auto& queue : waiting.rows<shm::QueueRecord>()) {
      if (queue.name == name && queue.priority == priority) return queue.depth;
    }
    return ~0U;
  };
  CHECK(depth(shm::QueueName::kJobs, shm::Priority::kUnknown) == 3);
  CHECK(depth(shm::QueueName::kJobs, shm::Priority::kHigh) == 2);
  CHECK(depth(shm::QueueName::kJobs, shm::Priority::kLow) == 1);
  CHECK(depth(shm::QueueName::kJobs, shm::Priority::kCritical) == 0);
  CHECK(depth(shm::QueueName::kSynthesis, shm::Priority::kHigh) == 4);
  CHECK(depth(shm::QueueName::kDevice, shm::Priority::kHigh) == 0);
  for (const auto& queue : waiting.rows<shm::QueueRecord>()) {
    CHECK(queue.oldest.is_set() == (queue.depth > 0));
  }
  fixture.engine().set_pause(Engine::Pause::kOff);
  for (const JobId id : jobs) fixture.final_status(id);
}

TEST_CASE("stage times count every partition once in each stage that it went on from") {
  EngineFixture fixture;
  const JobId id = fixture.submitted("multiplier", 3);
  fixture.final_status(id);
  const auto snapshot = fixture.snapshot();
  std::uint64_t stages_ns = 0;
  std::uint64_t whole_ns = 0;
  for (const auto& row : snapshot.rows<shm::StageTimesRecord>()) {
    CAPTURE(shm::word(row.stage));
    CHECK(row.count == 3);
    std::uint64_t counted = 0;
    for (const std::uint64_t count : row.times.counts) counted += count;
    CHECK(counted == row.count);
    CHECK(row.max_ns * 3 >= row.sum_ns);
    (row.stage == PartitionStage::kDone ? whole_ns : stages_ns) += row.sum_ns;
  }
  CHECK(whole_ns > 0);
  CHECK(stages_ns == whole_ns);
}

TEST_CASE("errors that differ only in their numbers are one, with how often and when") {
  EngineFixture fixture([](ScriptedStage stage, unsigned call) {
    if (stage != ScriptedStage::kStart) return Result<void>();
    return Result<void>(
        Error{ErrorClass::kOutOfMemory,
              call < 2 ? "launch " + std::to_string(call) + " failed" : "the device said no"});
  });
  for (int i = 0; i < 3; ++i) fixture.final_status(fixture.submitted("multiplier", 1));
  const auto snapshot = fixture.snapshot();
  const auto& errors = snapshot.rows<shm::ErrorRecord>();
  REQUIRE(errors.size() == 2);
  CHECK(errors[0].text.view() == "launch 0 failed");
  CHECK(errors[0].count == 2);
  CHECK(errors[0].failure_class == shm::FailureClass::kOutOfMemory);
  CHECK(errors[0].first.ns < errors[0].last.ns);
  CHECK(errors[0].job == snapshot.rows<shm::JobRecord>()[1].job);
  CHECK(errors[1].text.view() == "the device said no");
  CHECK(errors[1].count == 1);
}

TEST_CASE("a full error log gives up the error that was not seen for longest") {
  ErrorLog log(2);
  const auto note = [&](std::string_view text, std::uint64_t now) {
    return log.note({shm::FailureClass::kInternal, text, 0, {}, {}}, {now}).value();
  };
  CHECK(note("a", 1) == 0);
  CHECK(note("b", 2) == 1);
  CHECK(note("a", 3) == 0);
  CHECK(note("c", 4) == 1);
  CHECK(log.entry(1).text == "c");
  CHECK(log.entry(1).count == 1);
  CHECK(log.entry(0).count == 2);
  CHECK_FALSE(ErrorLog(0).note({}, {1}).has_value());
}

TEST_CASE("settings are shown with their values and origins, as far as there are rows") {
  EngineFixture fixture({}, [](EngineOptions& options) {
    options.capacity.settings = 2;
    options.settings = {{"threads", "2", "flag --threads"},
                        {"backend", "cpu", "/etc/vitrine/main.toml"},
                        {"socket", "/nowhere", "default"}};
  });
  const auto snapshot = fixture.snapshot();
  REQUIRE(snapshot.rows<shm::SettingRecord>().size() == 2);
  CHECK(snapshot.rows<shm::SettingRecord>()[0].name.view() == "threads");
  CHECK(snapshot.rows<shm::SettingRecord>()[0].value.view() == "2");
  CHECK(snapshot.rows<shm::SettingRecord>()[0].origin.view() == "flag --threads");
}

TEST_CASE("the history has a sample from the start, and says what the counters said") {
  EngineFixture fixture;
  fixture.final_status(fixture.submitted("multiplier", 2));
  auto reader = shm::SegmentReader::attach(fixture.segment_path());
  REQUIRE(reader.has_value());
  std::vector<shm::HistorySample> history;
  fixture.await([&] {
    history = reader->history().value();
    return !history.empty() && history.back().partitions_done == 2;
  });
  CHECK(history.front().sequence == 1);
  CHECK(history.back().jobs_done == 1);
  CHECK(history.back().jobs_active == 0);
  CHECK(history.back().busy_ns > 0);
  CHECK(history.back().workers == fixture.snapshot().rows<shm::WorkerRecord>().size());
  for (std::size_t i = 1; i < history.size(); ++i) {
    CHECK(history[i].time.ns > history[i - 1].time.ns);
  }
}

}  // namespace vitrine::engine::testing
