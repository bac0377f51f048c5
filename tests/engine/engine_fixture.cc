// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/engine_fixture.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "shm/invariants.h"
#include "shm/segment_reader.h"

namespace vitrine::engine::testing {
namespace {

constexpr auto kPatience = std::chrono::seconds(60);

EngineOptions options_for(const std::filesystem::path& segment) {
  EngineOptions options;
  options.configuration.instance = "test";
  options.configuration.segment = segment;
  options.configuration.threads = 2;
  options.configuration.memory_budget_bytes = std::uint64_t{256} << 20;
  options.configuration.circuits = {
      {"demo", circuit_folder("bn128", "demo") / "circuit.zkey", "demo", false, false},
      {"multiplier", circuit_folder("bn128", "multiplier") / "circuit.zkey", "small", false, false},
      {"bls", circuit_folder("bls12381", "demo") / "circuit.zkey", "demo", false, false}};
  return options;
}

std::filesystem::path witness_of(const std::string& circuit, unsigned number) {
  const bool is_bls = circuit == "bls";
  const auto folder = circuit_folder(is_bls ? "bls12381" : "bn128", is_bls ? "demo" : circuit);
  const unsigned count = circuit == "multiplier" ? 3 : 10;
  return folder / ("witness." + std::to_string(number % count) + ".wtns");
}

}  // namespace

EngineFixture::EngineFixture(ScriptedBackend::Script script,
                             const std::function<void(EngineOptions&)>& adjust)
    : scratch_("/dev/shm"), segment_(scratch_ / "test.segment") {
  EngineOptions options = options_for(segment_);
  if (script) options.backend = std::make_shared<ScriptedBackend>(std::move(script));
  if (adjust) adjust(options);
  auto started = Engine::start(std::move(options));
  if (!started) FAIL(started.error().text);
  engine_ = std::move(*started);
  engine_->declare_ready();
  watch_ = std::make_unique<SegmentWatch>(segment_);
}

EngineFixture::~EngineFixture() {
  engine_.reset();
  for (const std::string& violation : watch_->stop()) FAIL_CHECK(violation);
  CHECK(watch_->snapshots() > 0);
}

Submission EngineFixture::submit(const std::string& circuit, unsigned partitions,
                                 shm::Priority priority) {
  JobRequest request;
  request.priority = priority;
  request.circuit = circuit;
  for (unsigned number = 0; number < partitions; ++number) {
    request.witnesses.push_back({witness_of(circuit, number), nullptr});
  }
  return engine_->submit(std::move(request));
}

JobId EngineFixture::submitted(const std::string& circuit, unsigned partitions) {
  const Submission submission = submit(circuit, partitions);
  if (!submission) FAIL(submission.error().text);
  return *submission;
}

JobStatus EngineFixture::final_status(JobId id) {
  const auto status = engine_->wait(id, std::chrono::steady_clock::now() + kPatience);
  REQUIRE(status);
  REQUIRE(status->is_final());
  return *status;
}

shm::Snapshot EngineFixture::snapshot_when(const std::function<bool(const shm::Snapshot&)>& ready) {
  auto reader = shm::SegmentReader::attach(segment_);
  if (!reader) FAIL(reader.error().text);
  shm::Snapshot now;
  await([&] { return reader->snapshot(now).has_value() && now.consistent && ready(now); });
  return now;
}

void EngineFixture::await(const std::function<bool()>& condition) const {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) FAIL("waited in vain");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void EngineFixture::check_quiet() {
  const shm::Snapshot quiet =
      snapshot_when([](const shm::Snapshot& now) { return shm::check_quiet(now).empty(); });
  for (const auto& worker : quiet.rows<shm::WorkerRecord>()) {
    CHECK(worker.state == shm::WorkerState::kIdle);
  }
}

std::uint64_t peak_bytes(const std::string& circuit) {
  EngineFixture fixture;
  fixture.final_status(fixture.submitted(circuit, 1));
  return fixture.snapshot().memory().reserved_peak_bytes;
}

const shm::JobRecord& job_row(const shm::Snapshot& snapshot, JobId id) {
  for (const shm::JobRecord& job : snapshot.rows<shm::JobRecord>()) {
    if (job.job.value == id) return job;
  }
  FAIL("job " << id << " is not in the snapshot");
  std::abort();
}

}  // namespace vitrine::engine::testing
