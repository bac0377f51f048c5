// SPDX-License-Identifier: Apache-2.0
#include "tools/wait_chain.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/tools/sample_observation.h"

namespace vitrine::tools {
namespace {

using Catch::Matchers::Contains;
using shm::Index;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

std::string chain_of(const shm::Observation& observation, const WaitingItem& item) {
  const auto chain = wait_chain(View(observation, {}), item);
  REQUIRE(chain);
  return wait_chain_text(*chain);
}

shm::PartitionRecord& partition_row(shm::Observation& observation, std::uint64_t job,
                                    std::uint32_t number) {
  for (auto& row : observation.snapshot->rows<shm::PartitionRecord>()) {
    if (row.job.value == job && row.partition == number) return row;
  }
  FAIL("no such partition");
  std::abort();
}

TEST_CASE("a partition that waits for memory names who holds it and what they are at") {
  shm::Observation observation = tests::sample_observation();
  shm::PartitionRecord& waiting = partition_row(observation, 8, 0);
  waiting.wait_reason = shm::WaitReason::kMemory;
  waiting.wait_needs_bytes = 1536 * kMiB;
  waiting.wait_since = {observation.snapshot->taken_monotonic_ns - 2'000'000'000};
  CHECK(chain_of(observation, {8, 0}) ==
        "partition 0 of job 8: pending, waits for memory, for 2.0s\n"
        "  memory: 1.5 GiB needed, 512.0 MiB of 2.0 GiB free\n"
        "    partition 2 of job 7: holds 192.0 MiB, synthesizing, for 500ms\n"
        "    partition 1 of job 7: holds 64.0 MiB, gpu_proving, for 1.5s\n"
        "      worker 0: proving partition 1 of job 7, device 0, for 1.5s\n");
}

TEST_CASE("a worker that is stuck ends the chain with its thread and its limit") {
  shm::Observation observation = tests::sample_observation();
  shm::ThreadRecord thread;
  thread.name.assign("worker-0");
  thread.step.assign("proving");
  thread.since = {observation.snapshot->taken_monotonic_ns - 90'000'000'000};
  thread.limit_ns = 60'000'000'000;
  thread.worker = Index::of(0);
  observation.snapshot->rows<shm::ThreadRecord>() = {thread};
  CHECK_THAT(chain_of(observation, {7, 1}),
             Contains("thread worker-0: proving, longer than its limit of 1m00s, for 1m30s"));
}

TEST_CASE("a job tells of its first waiting partition and of those at work") {
  shm::Observation observation = tests::sample_observation();
  shm::PartitionRecord& pending = partition_row(observation, 7, 3);
  pending.wait_reason = shm::WaitReason::kCpu;
  const std::string text = chain_of(observation, {7, std::nullopt});
  CHECK_THAT(text, Contains("partition 1 of job 7: gpu_proving"));
  CHECK_THAT(text, Contains("partition 3 of job 7: pending, waits for cpu"));
  CHECK_THAT(text, !Contains("partition 0 of job 7"));
}

TEST_CASE("partitions that wait for each other are explained once") {
  shm::Observation observation = tests::sample_observation();
  for (auto& row : observation.snapshot->rows<shm::PartitionRecord>()) {
    if (shm::is_final(row.stage)) continue;
    row.wait_reason = shm::WaitReason::kMemory;
    row.reserved_bytes = kMiB;
  }
  const std::string text = chain_of(observation, {8, 0});
  CHECK(std::count(text.begin(), text.end(), '\n') < 40);
}

TEST_CASE("a job that waits for a key is told of the replaced one of its circuit too") {
  const auto chain_with = [](const std::string& circuit, const std::string& key) {
    shm::Observation observation = tests::sample_observation();
    auto& jobs = observation.snapshot->rows<shm::JobRecord>();
    std::ranges::find(jobs, shm::Id{8}, &shm::JobRecord::job)->circuit.assign(circuit);
    partition_row(observation, 8, 0).wait_reason = shm::WaitReason::kSrs;
    shm::AllocationRecord row;
    row.circuit.assign(key);
    row.state = shm::AllocationState::kAbsent;
    observation.snapshot->rows<shm::AllocationRecord>() = {row};
    return chain_of(observation, {8, 0});
  };
  const std::string long_id(32, 'x');
  CHECK_THAT(chain_with("sha256", "sha256"), Contains("of circuit sha256: absent"));
  CHECK_THAT(chain_with("sha256", "sha256~12"), Contains("of circuit sha256~12: absent"));
  CHECK_THAT(chain_with(long_id, long_id.substr(0, 29) + "~12"), Contains("x~12: absent"));
  for (const char* other : {"sha25", "sha25~1", "sha2567~1", "sha2567"}) {
    CHECK_THAT(chain_with("sha256", other), !Contains("absent"));
  }
}

TEST_CASE("a job that is over says how, and one that is not shown has no chain") {
  const shm::Observation observation = tests::sample_observation();
  CHECK_THAT(chain_of(observation, {6, std::nullopt}),
             Contains("failed, low, circuit small: w[0]"));
  CHECK_FALSE(wait_chain(View(observation, {}), {99, std::nullopt}));
  CHECK_FALSE(wait_chain(View(observation, {}), {8, 4}));
}

TEST_CASE("an item is a job or one of its partitions") {
  CHECK(parse_waiting_item("12")->job == 12);
  CHECK(parse_waiting_item("12/3")->partition == 3);
  for (const char* wrong :
       {"", "x", "12/", "12/x", "12/3/4", "-1", "12 ", "99999999999999999999"}) {
    CAPTURE(wrong);
    CHECK(parse_waiting_item(wrong).error().code == ExitCode::kUsage);
  }
}

}  // namespace
}  // namespace vitrine::tools
