// SPDX-License-Identifier: Apache-2.0
// Readers and their deaths change nothing: the engine does the same, in the same order.
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <random>

#include "shm/segment_reader.h"
#include "tests/engine/engine_fixture.h"

namespace vitrine::engine::testing {
namespace {

constexpr unsigned kReaders = 100;
constexpr unsigned kKilled = 50;
constexpr unsigned kJobs = 12;

// What an engine told, without times: what happened to what, where, in which order.
std::vector<std::string> event_log(const std::filesystem::path& segment) {
  auto reader = shm::SegmentReader::attach(segment).value();
  const shm::EventBatch batch = reader.events_after(0, 100'000).value();
  REQUIRE(batch.missed == 0);
  const std::uint64_t first_job = [&] {
    for (const shm::Event& event : batch.events) {
      if (event.job.value != 0) return event.job.value;
    }
    return std::uint64_t{0};
  }();
  std::vector<std::string> log;
  for (const shm::Event& event : batch.events) {
    const std::uint64_t job = event.job.value == 0 ? 0 : event.job.value - first_job + 1;
    log.push_back(
        std::string(shm::word(event.type)) + " job " + std::to_string(job) + " attempt " +
        std::to_string(event.attempt) + " partition " + std::to_string(event.partition.plus_one) +
        " worker " + std::to_string(event.worker.plus_one) + " device " +
        std::to_string(event.device.plus_one) + " argument " + std::to_string(event.argument));
  }
  return log;
}

// A hundred processes that take snapshots of the segment until they are killed.
class ReaderProcesses {
 public:
  ReaderProcesses(const std::filesystem::path& segment, unsigned count) {
    if (::pipe(ready_) != 0) throw std::runtime_error("no pipe");
    for (unsigned i = 0; i < count; ++i) {
      const pid_t child = ::fork();
      if (child < 0) throw std::runtime_error("no child");
      if (child == 0) read_until_killed(segment);
      children_.push_back(child);
    }
    // Each has read at least once.
    char byte = 0;
    for (unsigned i = 0; i < count; ++i) {
      if (::read(ready_[0], &byte, 1) != 1 || byte != 'r') throw std::runtime_error("no reader");
    }
  }
  ~ReaderProcesses() {
    while (!children_.empty()) kill_one(children_.size() - 1);
    ::close(ready_[0]);
    ::close(ready_[1]);
  }
  ReaderProcesses(const ReaderProcesses&) = delete;
  ReaderProcesses& operator=(const ReaderProcesses&) = delete;

  std::size_t count() const { return children_.size(); }
  void kill_one(std::size_t number) {
    const pid_t child = children_.at(number);
    children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(number));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    deaths_by_kill_ += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  }
  unsigned deaths_by_kill() const { return deaths_by_kill_; }

 private:
  [[noreturn]] void read_until_killed(const std::filesystem::path& segment) const {
    auto reader = shm::SegmentReader::attach(segment);
    shm::Snapshot snapshot;
    const char ready = reader && reader->snapshot(snapshot) ? 'r' : 'x';
    (void)!::write(ready_[1], &ready, 1);
    while (reader->snapshot(snapshot)) {
      const timespec pause{0, 10'000'000};
      ::nanosleep(&pause, nullptr);
    }
    ::_exit(1);
  }

  int ready_[2] = {-1, -1};
  std::vector<pid_t> children_;
  unsigned deaths_by_kill_ = 0;
};

struct SeededRun {
  std::vector<std::string> events;
  std::uint64_t reserved_bytes = 0, reserved_peak_bytes = 0;
  bool operator==(const SeededRun&) const = default;
};

// One worker and one partition at a time, so that the order of the events is the engine's own and
// not the scheduler's. Which jobs fail, and which readers die, comes from fixed seeds.
SeededRun seeded_run(unsigned readers, unsigned killed) {
  std::mt19937 faults(7);
  std::vector<bool> fails(kJobs);
  for (unsigned job = 0; job < kJobs; ++job) fails[job] = faults() % 4 == 0;
  std::atomic<unsigned> job_at_work{0};
  EngineFixture fixture(
      [&](ScriptedStage stage, unsigned) -> Result<void> {
        if (stage != ScriptedStage::kFinish || !fails[job_at_work]) return {};
        return Error{ErrorClass::kDeviceError, "as the seed has it"};
      },
      [](EngineOptions& options) {
        options.configuration.workers_per_device = 1;
        options.configuration.threads = 1;
      });
  ReaderProcesses processes(fixture.segment_path(), readers);
  std::mt19937 random(11);
  for (unsigned job = 0; job < kJobs; ++job) {
    job_at_work = job;
    const JobId id = fixture.submitted(job % 3 == 0 ? "multiplier" : "demo", 1);
    for (unsigned i = 0; i < killed / (kJobs - 2) && processes.deaths_by_kill() < killed; ++i) {
      processes.kill_one(random() % processes.count());
    }
    CHECK(fixture.final_status(id).record.state ==
          (fails[job] ? shm::JobState::kFailed : shm::JobState::kDone));
  }
  CHECK(processes.deaths_by_kill() == killed);
  CHECK(processes.count() == readers - killed);
  const shm::MemoryRecord memory = fixture.snapshot().memory();
  return {event_log(fixture.segment_path()), memory.reserved_bytes, memory.reserved_peak_bytes};
}

TEST_CASE("an engine tells the same events with a hundred readers, half of them killed, as alone",
          "[E12]") {
  const SeededRun alone = seeded_run(0, 0);
  const SeededRun watched = seeded_run(kReaders, kKilled);
  CHECK(alone.events.size() > kJobs * 8);
  CHECK(alone.reserved_peak_bytes > 0);
  CHECK(alone == watched);
}

}  // namespace
}  // namespace vitrine::engine::testing
