// SPDX-License-Identifier: Apache-2.0
// libvitrine through its C header: what other engines publish.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "shm/invariants.h"
#include "tests/shm/c_engine.h"

namespace vitrine::shm {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("a job of another engine goes through its own stages to done") {
  Engine engine;
  const std::uint64_t job = engine.submit(1);
  CHECK(vitrine_job_admit(engine.writer, job) == VITRINE_OK);
  const auto enter = [&](std::uint32_t stage, std::uint32_t worker) {
    CHECK(vitrine_partition_stage(engine.writer, job, 0, stage, worker) == VITRINE_OK);
    const PartitionRecord partition = engine.snapshot().rows<PartitionRecord>().at(0);
    CHECK(partition.stage_name.view() == kStages[stage].name);
    return partition.stage;
  };
  CHECK(enter(0, VITRINE_NONE) == PartitionStage::kPending);
  CHECK(enter(1, VITRINE_NONE) == PartitionStage::kSynthesizing);
  CHECK(enter(0, VITRINE_NONE) == PartitionStage::kGpuQueued);
  CHECK(enter(2, engine.worker) == PartitionStage::kGpuProving);
  CHECK(enter(1, VITRINE_NONE) == PartitionStage::kSynthesizing);
  CHECK(enter(2, engine.worker) == PartitionStage::kGpuProving);
  CHECK(enter(3, VITRINE_NONE) == PartitionStage::kFinishing);
  CHECK(enter(4, VITRINE_NONE) == PartitionStage::kDone);
  CHECK(vitrine_job_done(engine.writer, job) == VITRINE_OK);
  const Snapshot end = engine.snapshot();
  CHECK(end.rows<JobRecord>().at(0).state == JobState::kDone);
  CHECK(end.rows<DeviceRecord>().at(0).proofs == 1);
  CHECK(check_quiet(end).empty());
}

TEST_CASE("a call in the wrong order says so and publishes nothing") {
  Engine engine;
  const std::uint64_t job = engine.submit(2);
  const std::uint64_t other = engine.submit(1);
  CHECK(vitrine_job_admit(engine.writer, other) == VITRINE_OK);
  CHECK(vitrine_partition_stage(engine.writer, other, 0, 2, engine.worker) == VITRINE_OK);
  const std::uint64_t commit = engine.snapshot().commit;
  vitrine_writer* const writer = engine.writer;
  CHECK(vitrine_partition_stage(writer, job, 0, 1, VITRINE_NONE) == VITRINE_WRONG_ORDER);
  CHECK_THAT(engine.error(), Contains("job 1 is not admitted"));
  CHECK(vitrine_job_done(writer, job) == VITRINE_WRONG_ORDER);
  CHECK(vitrine_job_refused(writer, other, VITRINE_INTERNAL, "late") == VITRINE_WRONG_ORDER);
  CHECK(vitrine_partition_done(writer, 99, 0) == VITRINE_NO_SUCH_ITEM);
  CHECK(vitrine_partition_done(writer, other, 1) == VITRINE_NO_SUCH_ITEM);
  CHECK(vitrine_partition_stage(writer, other, 0, 9, VITRINE_NONE) == VITRINE_NO_SUCH_ITEM);
  CHECK(vitrine_partition_stage(writer, other, 0, 1, engine.worker) == VITRINE_BAD_ARGUMENT);
  CHECK(vitrine_partition_stage(writer, other, 0, 2, 7) == VITRINE_NO_SUCH_ITEM);
  CHECK(vitrine_partition_wait(writer, other, 0, VITRINE_WAIT_CPU, 0) == VITRINE_WRONG_ORDER);
  CHECK(vitrine_job_wait(writer, job, VITRINE_WAIT_MEMORY, 0, 0) == VITRINE_BAD_ARGUMENT);
  CHECK(vitrine_worker_add(writer, 5, nullptr) == VITRINE_NO_SUCH_ITEM);
  CHECK(vitrine_job_failed(writer, job, 77, "what") == VITRINE_BAD_ARGUMENT);
  CHECK(engine.snapshot().commit == commit);
}

TEST_CASE("a busy worker is not given a second partition") {
  Engine engine;
  const std::uint64_t job = engine.submit(2);
  vitrine_job_admit(engine.writer, job);
  CHECK(vitrine_partition_stage(engine.writer, job, 0, 2, engine.worker) == VITRINE_OK);
  CHECK(vitrine_partition_stage(engine.writer, job, 1, 2, engine.worker) == VITRINE_BUSY);
  CHECK_THAT(engine.error(), Contains("partition 0 of job 1"));
}

TEST_CASE("a job that fails takes its other partitions along and gives back their bytes") {
  Engine engine;
  const std::uint64_t job = engine.submit(3);
  vitrine_job_admit(engine.writer, job);
  CHECK(vitrine_memory_budget(engine.writer, 1000) == VITRINE_OK);
  const vitrine_consumer partition{VITRINE_CONSUMER_PARTITION, 1, job, nullptr};
  const vitrine_consumer points{VITRINE_CONSUMER_POINTS, 0, 0, "tower"};
  CHECK(vitrine_memory_reserve(engine.writer, &partition, 300) == VITRINE_OK);
  CHECK(vitrine_memory_reserve(engine.writer, &points, 500) == VITRINE_OK);
  CHECK(vitrine_memory_reserve(engine.writer, &points, 201) == VITRINE_OVER_BUDGET);
  CHECK(vitrine_memory_release(engine.writer, &partition, 301) == VITRINE_BAD_ARGUMENT);
  CHECK(engine.snapshot().memory().reserved_bytes == 800);
  CHECK(vitrine_partition_failed(engine.writer, job, 0, VITRINE_DEVICE_ERROR) == VITRINE_OK);
  CHECK(vitrine_job_failed(engine.writer, job, VITRINE_DEVICE_ERROR, "lathe broke") == VITRINE_OK);
  const Snapshot end = engine.snapshot();
  CHECK(end.memory().reserved_bytes == 500);
  CHECK(end.rows<JobRecord>().at(0).partitions_cancelled == 2);
  CHECK(end.rows<ErrorRecord>().at(0).text.view() == "lathe broke");
  CHECK(check_quiet(end).empty());
  CHECK(vitrine_memory_release(engine.writer, &points, 500) == VITRINE_OK);
  CHECK(engine.snapshot().rows<AllocationRecord>().empty());
}

TEST_CASE("a full table is counted, and rows of finished jobs are given to new ones") {
  Engine engine(2, 4);
  const std::uint64_t first = engine.submit(2);
  engine.submit(2);
  CHECK(engine.submit(1) == 0);
  CHECK_THAT(engine.error(), Contains("no rows are free"));
  CHECK(engine.snapshot().engine().refused_for_capacity == 1);
  CHECK(vitrine_job_cancelled(engine.writer, first) == VITRINE_OK);
  const std::uint64_t third = engine.submit(1);
  CHECK(third != 0);
  CHECK(vitrine_job_admit(engine.writer, first) == VITRINE_NO_SUCH_ITEM);
  CHECK(engine.snapshot().engine().recycled_rows == 3);
}

// Calls whatever comes, with arguments of which most make sense.
void call_anything(vitrine_writer* writer, std::mt19937_64& random) {
  const auto below = [&](std::uint64_t bound) {
    return static_cast<std::uint32_t>(random() % bound);
  };
  const std::uint64_t job = 1 + below(12);
  const std::uint32_t partition = below(4);
  const vitrine_consumer consumer{1 + below(3), partition, job, partition % 2 ? "a" : "b"};
  vitrine_job ticket{};
  ticket.size = sizeof(ticket);
  ticket.job = below(2) * job;
  ticket.partitions = below(5);
  ticket.priority = below(5);
  ticket.deadline_in_ns = below(2);
  const char* const kinds[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "other", nullptr};
  ticket.proof_kind = kinds[below(std::size(kinds))];
  switch (below(16)) {
    case 0:
    case 1:
      return void(vitrine_job_submit(writer, &ticket, nullptr));
    case 2:
      return void(vitrine_job_wait(writer, job, below(8), below(3) * 100, below(3)));
    case 3:
    case 4:
      return void(vitrine_job_admit(writer, job));
    case 5:
    case 6:
    case 7:
      return void(vitrine_partition_stage(writer, job, partition, below(6),
                                          below(2) ? VITRINE_NONE : below(4)));
    case 8:
      return void(vitrine_partition_wait(writer, job, partition, below(8), below(2) * 100));
    case 9:
      return void(vitrine_partition_again(writer, job, partition));
    case 10:
      return void(vitrine_partition_done(writer, job, partition));
    case 11:
      return void(vitrine_partition_failed(writer, job, partition, below(10)));
    case 12:
      return void(vitrine_job_done(writer, job));
    case 13: {
      const std::uint32_t end = below(4);
      if (end == 0) return void(vitrine_job_failed(writer, job, below(10), ""));
      if (end == 1) return void(vitrine_job_cancelled(writer, job));
      if (end == 2) return void(vitrine_job_refused(writer, job, below(10), "no"));
      return void(vitrine_job_lost(writer, job, nullptr));
    }
    case 14:
      return void(vitrine_memory_reserve(writer, &consumer, below(400)));
    default:
      return void(vitrine_memory_release(writer, &consumer, below(400)));
  }
}

TEST_CASE("whatever a careless caller calls, every snapshot keeps the invariants") {
  Engine engine(6, 16);
  for (int extra = 0; extra < 2; ++extra) {
    REQUIRE(vitrine_worker_add(engine.writer, engine.device, nullptr) == VITRINE_OK);
  }
  REQUIRE(vitrine_memory_budget(engine.writer, 1000) == VITRINE_OK);
  const char* const wanted = std::getenv("VITRINE_CARELESS_CALLS");
  const int calls = wanted == nullptr ? 4000 : std::atoi(wanted);
  auto reader = SegmentReader::attach(engine.path);
  REQUIRE(reader.has_value());
  std::mt19937_64 random(20240607);
  Snapshot previous;
  for (int call = 0; call < calls; ++call) {
    INFO("call " << call);
    call_anything(engine.writer, random);
    Snapshot now;
    REQUIRE(reader->snapshot(now).has_value());
    const auto violations = check_invariants(now, &previous);
    if (!violations.empty()) FAIL(violations.front());
    previous = std::move(now);
  }
  CHECK(previous.commit > static_cast<std::uint64_t>(calls) / 10);
}

TEST_CASE("threads that publish at once keep the invariants") {
  Engine engine(64, 256);
  std::vector<std::thread> threads;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    threads.emplace_back([&engine, seed] {
      std::mt19937_64 random(seed);
      for (int call = 0; call < 2000; ++call) call_anything(engine.writer, random);
    });
  }
  for (int beat = 0; beat < 100; ++beat) CHECK(vitrine_beat(engine.writer) == VITRINE_OK);
  for (std::thread& thread : threads) thread.join();
  CHECK(engine.snapshot().consistent);
}

TEST_CASE("an engine without shared memory goes on, and is told why") {
  const ScratchFolder folder;
  const std::string path = folder / "missing" / "main.segment";
  vitrine_options options{};
  options.size = sizeof(options);
  options.path = path.c_str();
  vitrine_writer* writer = nullptr;
  char error[256] = "";
  CHECK(vitrine_open(&options, &writer, error, sizeof(error)) < 0);
  CHECK_THAT(std::string(error), Contains("missing/main"));
  REQUIRE(writer != nullptr);
  CHECK(vitrine_is_shared(writer) == 0);
  CHECK(vitrine_ready(writer) == VITRINE_OK);
  CHECK(vitrine_beat(writer) == VITRINE_OK);
  vitrine_close(writer, 0);
}

TEST_CASE("a second engine of an instance gets private memory and the first one's name") {
  Engine engine;
  vitrine_options options{};
  options.size = sizeof(options);
  options.path = engine.path.c_str();
  vitrine_writer* second = nullptr;
  char error[256] = "";
  CHECK(vitrine_open(&options, &second, error, sizeof(error)) == VITRINE_IN_USE);
  CHECK(std::strlen(error) > 0);
  REQUIRE(second != nullptr);
  CHECK(vitrine_ready(second) == VITRINE_OK);
  vitrine_close(second, 0);
  CHECK(engine.snapshot().life == EngineLife::kReady);
}

TEST_CASE("options that break a rule are refused with that rule") {
  const auto refused = [](void (*change)(vitrine_options&)) {
    vitrine_options options{};
    options.size = sizeof(options);
    change(options);
    vitrine_writer* writer = nullptr;
    char error[256] = "";
    CHECK(vitrine_open(&options, &writer, error, sizeof(error)) == VITRINE_BAD_ARGUMENT);
    CHECK(writer == nullptr);
    return std::string(error);
  };
  CHECK_THAT(refused([](auto& options) { options.size = 0; }), Contains("size"));
  CHECK_THAT(refused([](auto& options) { options.instance = "UP"; }), Contains("instance UP"));
  CHECK_THAT(refused([](auto& options) { options.jobs = 1U << 20; }), Contains("jobs"));
  CHECK_THAT(refused([](auto& options) { options.stage_count = 3; }), Contains("stages"));
  CHECK_THAT(
      refused([](auto& options) {
        static constexpr vitrine_extra_field kBad = {"jobs", "cost", VITRINE_FIELD_U64, 0, ""};
        options.extra_fields = &kBad;
        options.extra_field_count = 1;
      }),
      Contains("field cost"));
  CHECK_THAT(
      refused([](auto& options) {
        static constexpr vitrine_extra_field kBad = {"jobs", "x_text", VITRINE_FIELD_TEXT, 12, ""};
        options.extra_fields = &kBad;
        options.extra_field_count = 1;
      }),
      Contains("x_text"));
}

TEST_CASE("a caller that passes nothing is answered") {
  CHECK(vitrine_ready(nullptr) == VITRINE_BAD_ARGUMENT);
  CHECK(vitrine_job_submit(nullptr, nullptr, nullptr) == VITRINE_BAD_ARGUMENT);
  CHECK(vitrine_look(nullptr, nullptr) == VITRINE_BAD_ARGUMENT);
  CHECK(vitrine_rows(nullptr, nullptr) == VITRINE_BAD_ARGUMENT);
  CHECK(vitrine_table_name(nullptr, 0) == nullptr);
  vitrine_close(nullptr, 0);
  vitrine_detach(nullptr);
  vitrine_snapshot_free(nullptr);
  Engine engine;
  CHECK(vitrine_job_submit(engine.writer, nullptr, nullptr) == VITRINE_BAD_ARGUMENT);
  CHECK(vitrine_memory_reserve(engine.writer, nullptr, 1) == VITRINE_BAD_ARGUMENT);
  CHECK(vitrine_field_set_u64(engine.writer, nullptr, nullptr, 1) == VITRINE_BAD_ARGUMENT);
}

}  // namespace
}  // namespace vitrine::shm
