// SPDX-License-Identifier: Apache-2.0
// An urgent job comes while others hold all there is: who holds it is told, and it goes first (E2).
#include <catch2/catch.hpp>
#include <cstdio>

#include "tests/engine/engine_fixture.h"

namespace vitrine::engine::testing {
namespace {

using shm::JobState;
using shm::Priority;
using shm::WaitReason;

constexpr std::uint64_t kSecond = 1'000'000'000;

// What `vitrine` prints.
std::string told_by(const std::string& words, const std::filesystem::path& segment) {
  const std::string command =
      std::string(VITRINE_BIN) + "/vitrine " + words + " --segment " + segment.string();
  std::string text;
  FILE* output = ::popen(command.c_str(), "r");
  REQUIRE(output != nullptr);
  char buffer[4096];
  for (std::size_t size = 0; (size = std::fread(buffer, 1, sizeof(buffer), output)) > 0;) {
    text.append(buffer, size);
  }
  CHECK(::pclose(output) == 0);
  return text;
}

JobId submitted_with_deadline(EngineFixture& fixture, std::uint64_t deadline_ns) {
  JobRequest request;
  request.circuit = "multiplier";
  request.priority = Priority::kCritical;
  request.deadline_ns = deadline_ns;
  request.witnesses.push_back({circuit_folder("bn128", "multiplier") / "witness.1.wtns", nullptr});
  return fixture.engine().submit(std::move(request)).value();
}

TEST_CASE("a critical job starts after the one partition in the kernels, though a key is loading",
          "[E2]") {
  Gate kernels, loading;
  EngineFixture fixture(
      [&](ScriptedStage stage, unsigned call) -> Result<void> {
        if (stage == ScriptedStage::kStart && call == 0) kernels.pass();
        return {};
      },
      [&](EngineOptions& options) {
        options.configuration.workers_per_device = 1;
        options.key_reader = [&](const auto& path, const auto& how, auto& threads) {
          if (path.parent_path().parent_path().filename() == "bls12381") loading.pass();
          return load_proving_key(path, how, threads);
        };
      });
  const JobId holder = fixture.submitted("demo", 4);
  kernels.await_arrivals(1);
  const JobId loader = fixture.submitted("bls", 1);
  loading.await_arrivals(1);
  const JobId critical = submitted_with_deadline(fixture, 2 * kSecond);
  // The load of its own key does not queue behind the other; then it waits for the device.
  const shm::Snapshot waiting = fixture.snapshot_when([&](const shm::Snapshot& now) {
    const auto partition = now.partitions_of({critical}).at(0);
    return partition.stage == shm::PartitionStage::kGpuQueued &&
           partition.wait_reason == WaitReason::kDevice;
  });
  const shm::WorkerRecord& worker = waiting.rows<shm::WorkerRecord>().at(0);
  CHECK(worker.job.value == holder);
  CHECK(worker.partition == shm::Index::of(0));
  const shm::JobRecord& row = job_row(waiting, critical);
  CHECK(row.deadline.ns == row.submitted.ns + 2 * kSecond);  // less now: the margin
  const std::string why = told_by("why " + std::to_string(critical), fixture.segment_path());
  INFO(why);
  CHECK(why.find("proving partition 0 of job " + std::to_string(holder)) != std::string::npos);
  const std::string shown = told_by("jobs", fixture.segment_path());
  INFO(shown);
  CHECK((shown.find("deadline in ") != std::string::npos ||
         shown.find("deadline missed by ") != std::string::npos));
  CHECK(job_row(waiting, loader).wait_reason == WaitReason::kSrs);
  kernels.open();
  CHECK(fixture.final_status(critical).record.state == JobState::kDone);
  CHECK(fixture.final_status(holder).record.state == JobState::kDone);
  const auto begun_ns = [&](JobId id, std::size_t partition) {
    return fixture.engine().partitions(id).at(partition).gpu_start.ns;
  };
  CHECK(begun_ns(critical, 0) > begun_ns(holder, 0));
  for (std::size_t partition = 1; partition < 4; ++partition) {
    CHECK(begun_ns(critical, 0) < begun_ns(holder, partition));
  }
  CHECK_FALSE(fixture.engine().status(loader)->is_final());
  loading.open();
  CHECK(fixture.final_status(loader).record.state == JobState::kDone);
  fixture.check_quiet();
}

}  // namespace
}  // namespace vitrine::engine::testing
