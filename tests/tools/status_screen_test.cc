// SPDX-License-Identifier: Apache-2.0
// What a person sees, compared with text written by hand.
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>

#include "tests/tools/sample_observation.h"
#include "tools/job_progress.h"
#include "tools/show_screen.h"
#include "tools/view.h"

using namespace vitrine;
using namespace vitrine::tools;
using vitrine::tests::sample_observation;

namespace {

constexpr TextStyle kAscii{};
constexpr TextStyle kUtf8{Charset::kUtf8, Colour::kNone};
constexpr std::size_t kAll = 1000;

const shm::JobRecord& job_of(const shm::Observation& observation, std::size_t i) {
  return observation.snapshot->rows<shm::JobRecord>().at(i);
}

// A screen that somebody has looked at and found right.
std::string golden_screen(const std::string& name) {
  std::ifstream file(VITRINE_TEST_DATA "/screens/" + name + ".txt");
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("the screen of a busy engine shows every part of it", "[screen]") {
  const shm::Observation observation = sample_observation();
  CHECK(show_screen(View(observation, kAscii)) == golden_screen("busy"));
}

TEST_CASE("a UTF-8 terminal gets squares for the partitions", "[screen]") {
  const shm::Observation observation = sample_observation();
  const std::string jobs = jobs_section(View(observation, kUtf8), kAll);
  CHECK(jobs.find("1/4  ■▣◧□ ") != std::string::npos);
  CHECK(jobs.find("■ done") != std::string::npos);
}

TEST_CASE("a job's own name of its client is shown, made safe", "[screen]") {
  shm::Observation observation = sample_observation();
  auto& jobs = observation.snapshot->rows<shm::JobRecord>();
  jobs[0].request.assign("batch-7\x1b[2J");
  jobs[1].request.assign("nightly");
  const std::string text = jobs_section(View(observation, kAscii), kAll);
  INFO(text);
  CHECK(text.find("  request batch-7\\x1b[2J; deadline in 48s\n") != std::string::npos);
  CHECK(text.find("  request nightly; bad_input while ") != std::string::npos);
}

TEST_CASE("a job that ended after its deadline says by how much", "[screen]") {
  shm::Observation observation = sample_observation();
  auto& job = observation.snapshot->rows<shm::JobRecord>()[1];
  job.state = shm::JobState::kDone;
  job.failure_class = shm::FailureClass::kNone;
  job.failure_stage = shm::PartitionStage::kUnknown;
  job.failure_partition = job.failure_device = {};
  job.failure = {};
  job.deadline = {job.finished.ns - 2'800'000'000};
  CHECK(jobs_section(View(observation, kAscii), kAll).find("  deadline missed by 2.8s\n") !=
        std::string::npos);
  job.deadline = job.finished;
  CHECK(jobs_section(View(observation, kAscii), kAll).find("missed") == std::string::npos);
}

TEST_CASE("a job that was refused without a fault of anybody says why", "[screen]") {
  shm::Observation observation = sample_observation();
  shm::JobRecord refused;
  refused.job = {9};
  refused.state = shm::JobState::kRefused;
  refused.failure.assign("the engine is draining");
  observation.snapshot->rows<shm::JobRecord>() = {refused};
  CHECK(jobs_section(View(observation, kAscii), kAll).find("  the engine is draining\n") !=
        std::string::npos);
}

TEST_CASE("jobs beyond the limit are counted", "[screen]") {
  const shm::Observation observation = sample_observation();
  const std::string jobs = jobs_section(View(observation, kAscii), 1);
  CHECK(jobs.find("and 2 more; 'vitrine jobs' lists all\n") != std::string::npos);
  CHECK(jobs.find("admitting") == std::string::npos);
}

TEST_CASE("a dead engine shows what every partition was doing when it died", "[screen]") {
  shm::Observation observation = sample_observation();
  observation.verdict = {shm::VerdictWord::kDead, "its lock is free"};
  // An hour has gone by since; ages stand still at the last heartbeat.
  constexpr std::uint64_t kHour = 3'600'000'000'000;
  observation.snapshot->taken_monotonic_ns += kHour;
  observation.snapshot->heartbeat_age_ns += kHour;
  const std::string screen = show_screen(View(observation, kAscii));
  CHECK(screen.find("main  dead  its lock is free\n") == 0);
  CHECK(screen.find("ran 41m22s  last heartbeat 2026-01-31T08:15:30.000Z, 1h00m ago") !=
        std::string::npos);
  INFO(screen);
  CHECK(screen.find("JOB  PARTITION  STAGE           FOR  ATTEMPT  WORKER      HOLDS\n"
                    "  7          0  done              -        1       -        0 B\n"
                    "  7          1  gpu_proving    1.4s        1       0   64.0 MiB\n"
                    "  7          2  synthesizing  450ms        1       -  192.0 MiB\n"
                    "  7          3  pending           -        1       -        0 B\n"
                    "  8          0  pending           -        1       -        0 B\n") !=
        std::string::npos);
}

TEST_CASE("a dead engine's partitions that waited share a line, and none is left out", "[screen]") {
  shm::Observation observation = sample_observation();
  observation.verdict = {shm::VerdictWord::kDead, "its lock is free"};
  auto& partitions = observation.snapshot->rows<shm::PartitionRecord>();
  const shm::PartitionRecord pending = partitions[3];
  for (std::uint32_t number = 4; number < 64; ++number) {
    partitions.push_back(pending);
    partitions.back().partition = number;
  }
  const std::string table = partitions_section(View(observation, kAscii));
  INFO(table);
  CHECK(table.find("  7      3..63  pending           -        1       -          -\n") !=
        std::string::npos);
}

TEST_CASE("hostile texts of a segment reach the screen harmless", "[screen]") {
  shm::Observation observation = sample_observation();
  observation.snapshot->rows<shm::JobRecord>()[0].circuit.assign("\x1b]0;owned\x07");
  observation.identity.host = "h\ni";
  const std::string screen = show_screen(View(observation, kUtf8));
  CHECK(screen.find('\x1b') == std::string::npos);
  CHECK(screen.find("\\x1b]0;owned\\x07") != std::string::npos);
  CHECK(screen.find("on h\\x0ai ") != std::string::npos);
}

TEST_CASE("numbers without a word are shown as unknown", "[screen]") {
  shm::Observation observation = sample_observation();
  observation.snapshot->rows<shm::JobRecord>()[0].state = static_cast<shm::JobState>(99);
  observation.snapshot->rows<shm::PartitionRecord>()[0].stage =
      static_cast<shm::PartitionStage>(~0U);
  const std::string screen = show_screen(View(observation, kAscii));
  CHECK(screen.find("unknown") != std::string::npos);
  CHECK(screen.find("?gs.") != std::string::npos);
}

TEST_CASE("256 partitions take eight lines of marks", "[screen]") {
  shm::Observation observation = sample_observation();
  auto& partitions = observation.snapshot->rows<shm::PartitionRecord>();
  const shm::PartitionRecord pending = partitions[3];
  for (std::uint32_t number = 4; number < 256; ++number) {
    partitions.push_back(pending);
    partitions.back().partition = number;
  }
  const std::string jobs = jobs_section(View(observation, kAscii), kAll);
  CHECK(jobs.find(std::string(32, '.')) != std::string::npos);
  CHECK(jobs.find(std::string(33, '.')) == std::string::npos);
}

TEST_CASE("progress on one line turns to counts where marks do not fit", "[progress]") {
  const shm::Observation observation = sample_observation();
  const View view(observation, kAscii);
  CHECK(progress_line(view, job_of(observation, 0), 80) == "job 7  running  12s  1/4 done  #gs.");
  CHECK(progress_line(view, job_of(observation, 0), 33) == "job 7  running  12s  1/4 done  ");
  shm::Observation many = sample_observation();
  auto& partitions = many.snapshot->rows<shm::PartitionRecord>();
  for (std::uint32_t number = 4; number < 60; ++number) {
    partitions.push_back(partitions[3]);
    partitions.back().partition = number;
  }
  CHECK(progress_line(View(many, kAscii), job_of(many, 0), 90) ==
        "job 7  running  12s  1/4 done  pending 57  synthesizing 1  gpu_proving 1  done 1");
}

TEST_CASE("without a terminal each change of a stage is a line, once", "[progress]") {
  shm::Observation observation = sample_observation();
  StageChanges changes;
  CHECK(changes.lines(View(observation, kAscii), job_of(observation, 0)) ==
        "job 7  1/4 done  partition 0: done\n"
        "job 7  1/4 done  partition 1: gpu_proving\n"
        "job 7  1/4 done  partition 2: synthesizing\n");
  CHECK(changes.lines(View(observation, kAscii), job_of(observation, 0)).empty());
  observation.snapshot->rows<shm::PartitionRecord>()[2].stage = shm::PartitionStage::kGpuQueued;
  CHECK(changes.lines(View(observation, kAscii), job_of(observation, 0)) ==
        "job 7  1/4 done  partition 2: gpu_queued\n");
}
