// SPDX-License-Identifier: Apache-2.0
// The engine as a whole, with real kernels: what goes in comes out, and the segment shows it.
#include "engine/engine.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <thread>

#include "engine/proof_json.h"
#include "engine/text_file.h"
#include "shm/clock.h"
#include "shm/segment_reader.h"
#include "tests/engine/engine_fixture.h"

namespace vitrine::engine::testing {
namespace {

using Catch::Matchers::Contains;
using shm::JobState;

VerifyingKey verifying_key(const std::string& curve, const std::string& circuit) {
  const auto path = circuit_folder(curve, circuit) / "verification_key.json";
  return parse_verifying_key(*read_text_file(path, kMaxJsonBytes)).value();
}

TEST_CASE("a job of ten partitions becomes ten proofs that verify") {
  EngineFixture fixture;
  const JobId id = fixture.submitted("demo", 10);
  CHECK(fixture.final_status(id).record.state == JobState::kDone);
  const VerifyingKey key = verifying_key("bn128", "demo");
  std::set<std::string> public_inputs;
  for (unsigned partition = 0; partition < 10; ++partition) {
    const auto proof = fixture.engine().proof(id, partition);
    REQUIRE(proof);
    CHECK(verify(key, *parse_proof(proof->proof), *parse_public(proof->inputs)).has_value());
    public_inputs.insert(proof->inputs);
  }
  CHECK(public_inputs.size() == 10);
  CHECK(fixture.engine().proof(id, 10) == nullptr);
  REQUIRE(fixture.engine().result(id));
  CHECK(fixture.engine().result(id)->starts_with("[{\"proof\":"));
  fixture.check_quiet();
}

TEST_CASE("jobs of both curves and of different circuits run side by side") {
  EngineFixture fixture;
  std::vector<JobId> jobs;
  for (int round = 0; round < 4; ++round) {
    for (const char* circuit : {"demo", "bls", "multiplier"}) {
      jobs.push_back(fixture.submitted(circuit, 2));
    }
  }
  for (const JobId id : jobs) CHECK(fixture.final_status(id).record.state == JobState::kDone);
  fixture.check_quiet();
}

TEST_CASE("the segment shows every stage of a partition in order, and the same in the events") {
  EngineFixture fixture;
  const JobId id = fixture.submitted("demo", 1);
  fixture.final_status(id);
  const shm::Snapshot after = fixture.snapshot();
  const shm::PartitionRecord partition = after.partitions_of({id}).at(0);
  CHECK(partition.stage == shm::PartitionStage::kDone);
  CHECK(partition.last_stage == shm::PartitionStage::kFinishing);
  CHECK(partition.reserved_bytes == 0);
  CHECK(partition.worker.is_set());
  const shm::Instant times[] = {partition.created,   partition.synth_start, partition.synth_end,
                                partition.gpu_queue, partition.gpu_pickup,  partition.gpu_start,
                                partition.gpu_end,   partition.finished};
  for (const shm::Instant time : times) CHECK(time.is_set());
  for (std::size_t i = 1; i < std::size(times); ++i) CHECK(times[i - 1].ns <= times[i].ns);

  auto reader = shm::SegmentReader::attach(fixture.engine().segment().path());
  REQUIRE(reader.has_value());
  std::vector<shm::EventType> types;
  const auto batch = reader->events_after(0, 1000);
  for (const shm::Event& event : batch->events) {
    if (event.job.value == id) types.push_back(event.type);
  }
  using shm::EventType;
  CHECK(types == std::vector<EventType>{EventType::kSubmit, EventType::kWait, EventType::kAdmit,
                                        EventType::kSynthStart, EventType::kSynthEnd,
                                        EventType::kGpuQueue, EventType::kGpuPickup,
                                        EventType::kGpuStart, EventType::kGpuEnd,
                                        EventType::kPartitionDone, EventType::kFinish});
}

TEST_CASE("ten jobs that need one cold key load it once") {
  EngineFixture fixture;
  std::vector<JobId> jobs;
  for (int i = 0; i < 10; ++i) jobs.push_back(fixture.submitted("demo", 1));
  for (const JobId id : jobs) CHECK(fixture.final_status(id).record.state == JobState::kDone);
  const shm::AllocationRecord srs = fixture.engine().circuits().at(0);
  CHECK(srs.loads == 1);
  CHECK(srs.misses == 1);
  CHECK(srs.hits == 9);
  CHECK(srs.references == 0);
  CHECK(srs.state == shm::AllocationState::kReady);
}

TEST_CASE("a key that is kept resident is loaded at the start") {
  EngineFixture fixture(
      {}, [](EngineOptions& options) { options.configuration.circuits[0].keep_resident = true; });
  const auto loaded = fixture.snapshot_when([](const shm::Snapshot& now) {
    return now.rows<shm::AllocationRecord>()[0].state == shm::AllocationState::kReady;
  });
  const auto& rows = loaded.rows<shm::AllocationRecord>();
  CHECK(rows[0].loaded_bytes == rows[0].total_bytes);
  CHECK(loaded.memory().srs_bytes == rows[0].reserved_bytes);
  CHECK(loaded.memory().pce_bytes == rows[1].reserved_bytes);
}

TEST_CASE("only keys that are to be kept resident say so, loaded or not") {
  EngineFixture fixture(
      {}, [](EngineOptions& options) { options.configuration.circuits[0].keep_resident = true; });
  fixture.final_status(fixture.submitted("multiplier", 1));
  const auto circuits = fixture.engine().circuits();
  CHECK(circuits.at(0).keep_resident == 1);
  CHECK(circuits.at(1).keep_resident == 0);
  CHECK(circuits.at(1).state == shm::AllocationState::kReady);
  CHECK(circuits.at(2).keep_resident == 0);
  CHECK(circuits.at(2).state == shm::AllocationState::kAbsent);
}

TEST_CASE("a worker is busy since it took its partition, in every stage") {
  Gate gate;
  EngineFixture fixture([&gate](ScriptedStage stage, unsigned) -> Result<void> {
    if (stage == ScriptedStage::kFinish) gate.pass();
    return {};
  });
  const JobId id = fixture.submitted("demo", 1);
  const auto finishing = fixture.snapshot_when([&](const shm::Snapshot& now) {
    return now.partitions_of({id}).at(0).stage == shm::PartitionStage::kFinishing;
  });
  const shm::PartitionRecord partition = finishing.partitions_of({id}).at(0);
  const auto& worker = finishing.rows<shm::WorkerRecord>().at(partition.worker.number());
  CHECK(worker.stage == shm::PartitionStage::kFinishing);
  CHECK(worker.since.ns == partition.gpu_pickup.ns);
  gate.open();
  CHECK(fixture.final_status(id).record.state == JobState::kDone);
}

// Keeps what is written, and lets others go first as often as it can.
class YieldingJournal : public Journal {
 public:
  void write(const JournalEntry& entry) override {
    if (entry.job != 0) lines[entry.job].emplace_back(entry.what);
    std::this_thread::yield();
  }
  std::map<JobId, std::vector<std::string>> lines;
};

TEST_CASE("the log tells each job's changes in the order they were made") {
  YieldingJournal journal;
  {
    EngineFixture fixture({}, [&](EngineOptions& options) { options.journal = &journal; });
    Engine& engine = fixture.engine();
    engine.set_pause(Engine::Pause::kOn);
    std::atomic<bool> has_submitted{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        while (!has_submitted) {
          for (const auto& job : engine.jobs()) (void)engine.cancel(job.job.value);
        }
      });
    }
    for (int i = 0; i < 400; ++i) (void)fixture.submit("multiplier", 1);
    has_submitted = true;
    for (std::thread& thread : threads) thread.join();
    for (const auto& job : engine.jobs()) (void)engine.cancel(job.job.value);
  }
  CHECK(journal.lines.size() == 400);
  const std::vector<std::string> expected{"job queued", "job ended"};
  for (const auto& [id, lines] : journal.lines) CHECK(lines == expected);
}

struct ErrorJournal : Journal {
  void write(const JournalEntry& entry) override {
    if (entry.level == JournalLevel::kError) errors.push_back(entry.detail);
  }
  std::vector<std::string> errors;
};

TEST_CASE("an engine that stops while a key loads logs no error") {
  ErrorJournal journal;
  for (int round = 0; round < 20; ++round) {
    EngineFixture fixture({}, [&](EngineOptions& options) {
      options.journal = &journal;
      for (auto& circuit : options.configuration.circuits) circuit.keep_resident = true;
    });
  }
  CHECK(journal.errors == std::vector<std::string>{});
}

TEST_CASE("keys that are to be kept but do not fit together are loaded when there is room only") {
  const std::uint64_t budget_bytes = peak_bytes("demo") + 1000;
  EngineFixture fixture({}, [&](EngineOptions& options) {
    options.configuration.memory_budget_bytes = budget_bytes;
    for (auto& circuit : options.configuration.circuits) circuit.keep_resident = true;
  });
  CHECK(fixture.final_status(fixture.submitted("demo", 2)).record.state == JobState::kDone);
  const Submission other = fixture.submit("bls", 1);
  REQUIRE_FALSE(other.has_value());
  CHECK(other.error().reason == RefusalReason::kImpossible);
  CHECK_THAT(other.error().text, Contains("kept resident hold"));
}

TEST_CASE("an unknown circuit and a wrong number of witnesses are not counted as jobs") {
  EngineFixture fixture;
  CHECK(fixture.submit("absent", 1).error().reason == RefusalReason::kUnknownCircuit);
  CHECK(fixture.submit("demo", 0).error().reason == RefusalReason::kBadRequest);
  CHECK(fixture.submit("demo", 257).error().reason == RefusalReason::kBadRequest);
  const shm::Snapshot seen = fixture.snapshot();
  for (const auto& kind : seen.rows<shm::CountersRecord>()) {
    CHECK(kind.submitted == 0);
  }
}

TEST_CASE("a job that can never fit is refused with both numbers, others go on", "[E6]") {
  const std::uint64_t budget_bytes = peak_bytes("demo") - 1;
  EngineFixture fixture({}, [&](EngineOptions& options) {
    options.configuration.memory_budget_bytes = budget_bytes;
  });
  CHECK_THAT(std::string(fixture.snapshot().engine().degraded_reason.view()),
             Contains("circuit demo needs "));
  const auto before = std::chrono::steady_clock::now();
  const auto refused = fixture.submit("demo", 1);
  CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(1));
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().reason == RefusalReason::kImpossible);
  CHECK_THAT(
      refused.error().text,
      Contains(" needs ") && Contains("the budget is " + std::to_string(budget_bytes) + " bytes"));
  const auto seen = fixture.snapshot();
  CHECK(seen.memory().refused_impossible == 1);
  CHECK(seen.rows<shm::JobRecord>().at(0).state == JobState::kRefused);
  CHECK(fixture.final_status(fixture.submitted("multiplier", 1)).record.state == JobState::kDone);
}

TEST_CASE("what the process itself holds is out of a configured budget") {
  EngineFixture fixture({}, [&](EngineOptions& options) {
    options.configuration.memory_budget_bytes = 1000 + peak_bytes("demo");
    options.process_bytes = 1000;
  });
  CHECK(fixture.snapshot().memory().budget_bytes == peak_bytes("demo"));
  CHECK(fixture.final_status(fixture.submitted("demo", 1)).record.state == JobState::kDone);
}

TEST_CASE("rows of finished jobs are used again, oldest first, and counted") {
  EngineFixture fixture({}, [](EngineOptions& options) {
    options.capacity.jobs = 4;
    options.capacity.partitions = 12;
  });
  std::vector<JobId> jobs;
  for (int i = 0; i < 10; ++i) {
    jobs.push_back(fixture.submitted("multiplier", 3));
    fixture.final_status(jobs.back());
  }
  CHECK_FALSE(fixture.engine().status(jobs[5]));
  CHECK(fixture.engine().status(jobs[6]));
  const auto seen = fixture.snapshot();
  CHECK(seen.rows<shm::JobRecord>().size() == 4);
  CHECK(seen.engine().recycled_rows == 6 * 4);
}

TEST_CASE("ids of a later engine lie beyond those of an earlier one") {
  const auto first_id = [] {
    EngineFixture fixture;
    return fixture.submitted("multiplier", 1);
  };
  const JobId earlier = first_id();
  CHECK(first_id() > earlier);
}

TEST_CASE("a GPU that is required and not there ends the start with the reason") {
  EngineOptions options;
  options.configuration.require_gpu = true;
  const auto started = Engine::start(std::move(options));
  REQUIRE_FALSE(started.has_value());
  CHECK(started.error().kind == StartFailure::Kind::kNoGpu);
}

TEST_CASE("a CUDA backend that is asked for and absent is a visible fallback") {
  EngineFixture fixture(
      {}, [](EngineOptions& options) { options.configuration.backend = shm::Backend::kCuda; });
  const auto seen = fixture.snapshot();
  CHECK(seen.life == shm::EngineLife::kDegraded);
  CHECK(seen.engine().requested_backend == shm::Backend::kCuda);
  CHECK(seen.engine().effective_backend == shm::Backend::kCpu);
  CHECK(seen.engine().backend_fallbacks == 1);
  CHECK_THAT(std::string(seen.engine().degraded_reason.view()), Contains("CPU"));
}

TEST_CASE("without shared memory the engine proves, and says that nobody sees it") {
  EngineOptions options;
  options.configuration.segment = "/proc/no-such-folder/test.segment";
  options.configuration.memory_budget_bytes = std::uint64_t{64} << 20;
  options.configuration.circuits = {
      {"demo", circuit_folder("bn128", "demo") / "circuit.zkey", "demo", false, false}};
  auto engine = Engine::start(std::move(options)).value();
  CHECK_FALSE(engine->is_shared());
  CHECK_THAT(engine->why_not_shared(), Contains("the status is not shared"));
  CHECK_THAT(engine->why_not_shared(), Contains("/proc/no-such-folder"));
  JobRequest request;
  request.circuit = "demo";
  request.witnesses.push_back({circuit_folder("bn128", "demo") / "witness.1.wtns", nullptr});
  const JobId id = engine->submit(std::move(request)).value();
  const auto minute = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  CHECK(engine->wait(id, minute)->record.state == JobState::kDone);
}

}  // namespace
}  // namespace vitrine::engine::testing
