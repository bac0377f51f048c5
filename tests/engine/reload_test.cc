// SPDX-License-Identifier: Apache-2.0
// Circuits and settings that change while the engine runs, and the orders on keys.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <random>
#include <thread>

#include "engine/engine_control.h"
#include "engine/key_generation.h"
#include "engine/proof_json.h"
#include "engine/r1cs.h"
#include "tests/engine/container_bytes.h"
#include "tests/engine/engine_fixture.h"
#include "tests/engine/real_inputs.h"

namespace vitrine::engine::testing {
namespace {

using Catch::Matchers::Contains;
using shm::AllocationState;
using shm::JobState;
using Kind = CircuitAnswer::Kind;

CircuitConfiguration demo_circuit(const std::string& id = "demo") {
  return {id, circuit_folder("bn128", "demo") / "circuit.zkey", "demo", false, false};
}

CircuitConfiguration multiplier_circuit() {
  return {"multiplier", circuit_folder("bn128", "multiplier") / "circuit.zkey", "small", false,
          false};
}

CircuitConfiguration bls_circuit() {
  return {"bls", circuit_folder("bls12381", "demo") / "circuit.zkey", "demo", false, false};
}

Configuration configuration_of(std::vector<CircuitConfiguration> circuits) {
  Configuration configuration;
  configuration.circuits = std::move(circuits);
  return configuration;
}

CircuitChanges reload(EngineFixture& fixture, std::vector<CircuitConfiguration> circuits) {
  auto changes = fixture.engine().control().take(configuration_of(std::move(circuits)), {});
  if (!changes) FAIL(changes.error().text);
  return *changes;
}

// Holds the first synthesis until the gate opens.
ScriptedBackend::Script hold_first(Gate& gate) {
  return [&gate](ScriptedStage stage, unsigned call) -> Result<void> {
    if (stage == ScriptedStage::kSynthesize && call == 0) gate.pass();
    return {};
  };
}

JobId submitted(EngineFixture& fixture, const std::string& circuit, unsigned partitions) {
  JobRequest request;
  request.circuit = circuit;
  for (unsigned number = 0; number < partitions; ++number) {
    const std::string name = "witness." + std::to_string(number % 10) + ".wtns";
    request.witnesses.push_back({circuit_folder("bn128", "demo") / name, nullptr});
  }
  return fixture.engine().submit(std::move(request)).value();
}

JobState outcome(EngineFixture& fixture, JobId id) { return fixture.final_status(id).record.state; }

// Another key for the constraints of the circuit `demo`.
VerifyingKey write_other_key(const std::filesystem::path& path) {
  kernels::ThreadPool threads(2);
  const auto r1cs = read_r1cs(circuit_folder("bn128", "demo") / "circuit.r1cs").value();
  return write_development_key(path, r1cs, threads).value();
}

bool is_proof_for(const VerifyingKey& key, EngineFixture& fixture, JobId id,
                  std::uint32_t partition) {
  const auto texts = fixture.engine().proof(id, partition);
  REQUIRE(texts != nullptr);
  return verify(key, parse_proof(texts->proof).value(), parse_public(texts->inputs).value())
      .has_value();
}

CircuitStatus circuit(EngineFixture& fixture, const std::string& id) {
  const auto found = fixture.engine().control().circuit(id);
  REQUIRE(found.has_value());
  return *found;
}

// How many rows the segment shows for keys.
std::size_t allocation_rows(EngineFixture& fixture) {
  return fixture.snapshot().rows<shm::AllocationRecord>().size();
}

void copy_key(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing);
}

TEST_CASE("a circuit is added, and one that is taken away ends its jobs and takes no more") {
  Gate gate;
  EngineFixture fixture(hold_first(gate));
  const JobId running = submitted(fixture, "demo", 3);
  gate.await_arrivals(1);
  const JobId waiting = submitted(fixture, "demo", 2);
  const CircuitChanges changes =
      reload(fixture, {multiplier_circuit(), bls_circuit(), demo_circuit("late")});
  CHECK(changes.added == std::vector<std::string>{"late"});
  CHECK(changes.removed == std::vector<std::string>{"demo"});
  CHECK(changes.changed.empty());
  CHECK(fixture.submit("demo", 1).error().reason == RefusalReason::kUnknownCircuit);
  const JobId late = submitted(fixture, "late", 1);
  CHECK(allocation_rows(fixture) == 8);
  gate.open();
  for (const JobId id : {running, waiting, late}) CHECK(outcome(fixture, id) == JobState::kDone);
  fixture.snapshot_when(
      [](const shm::Snapshot& now) { return now.rows<shm::AllocationRecord>().size() == 6; });
  CHECK(fixture.engine().circuits().size() == 3);
  CHECK(fixture.engine().jobs().front().circuit.view() == "demo");  // its name outlives it
  fixture.check_quiet();
}

TEST_CASE("jobs end with the key they began with, and jobs that wait begin with the new one") {
  const ScratchFolder scratch;
  const VerifyingKey other = write_other_key(scratch / "other.zkey");
  const VerifyingKey first =
      load_key(circuit_folder("bn128", "demo") / "circuit.zkey")->verifying_key;
  Gate gate;
  EngineFixture fixture(hold_first(gate));
  const JobId running = submitted(fixture, "demo", 6);
  gate.await_arrivals(1);
  const JobId waiting = submitted(fixture, "demo", 2);
  CircuitConfiguration changed = demo_circuit();
  changed.zkey = scratch / "other.zkey";
  changed.insecure = true;
  CHECK(reload(fixture, {changed, multiplier_circuit(), bls_circuit()}).changed ==
        std::vector<std::string>{"demo"});
  const JobId later = submitted(fixture, "demo", 1);
  gate.open();
  for (const JobId id : {running, waiting, later}) CHECK(outcome(fixture, id) == JobState::kDone);
  for (std::uint32_t partition = 0; partition < 6; ++partition) {
    CHECK(is_proof_for(first, fixture, running, partition));
  }
  CHECK(is_proof_for(other, fixture, waiting, 0));
  CHECK(is_proof_for(other, fixture, waiting, 1));
  CHECK(is_proof_for(other, fixture, later, 0));
  CHECK_FALSE(is_proof_for(first, fixture, later, 0));
  fixture.snapshot_when(
      [](const shm::Snapshot& now) { return now.rows<shm::AllocationRecord>().size() == 6; });
  fixture.check_quiet();
}

TEST_CASE("a key whose file was replaced under its name is loaded anew after a reload") {
  const ScratchFolder scratch;
  copy_key(circuit_folder("bn128", "demo") / "circuit.zkey", scratch / "key.zkey");
  CircuitConfiguration mine = demo_circuit("mine");
  mine.zkey = scratch / "key.zkey";
  mine.insecure = true;
  EngineFixture fixture({},
                        [&](EngineOptions& options) { options.configuration.circuits = {mine}; });
  CHECK(outcome(fixture, submitted(fixture, "mine", 1)) == JobState::kDone);
  CHECK(reload(fixture, {mine}).empty());
  const VerifyingKey other = write_other_key(scratch / "new.zkey");
  std::filesystem::rename(scratch / "new.zkey", scratch / "key.zkey");
  CHECK(reload(fixture, {mine}).changed == std::vector<std::string>{"mine"});
  const JobId later = submitted(fixture, "mine", 1);
  CHECK(outcome(fixture, later) == JobState::kDone);
  CHECK(is_proof_for(other, fixture, later, 0));
}

TEST_CASE("what concerns no key changes in place") {
  EngineFixture fixture;
  CHECK(outcome(fixture, submitted(fixture, "demo", 1)) == JobState::kDone);
  CircuitConfiguration next = demo_circuit();
  next.keep_resident = true;
  next.priority = shm::Priority::kHigh;
  next.kind = "changed";
  CHECK(reload(fixture, {bls_circuit(), next, multiplier_circuit()}).changed ==
        std::vector<std::string>{"demo"});
  const auto circuits = fixture.engine().circuits();
  CHECK(circuits.at(0).circuit.view() == "bls");
  CHECK(circuits.at(1).circuit.view() == "demo");
  CHECK(circuits.at(1).state == AllocationState::kReady);
  CHECK(circuits.at(1).loads == 1);
  CHECK(circuits.at(1).keep_resident == 1);
  const JobStatus job = fixture.final_status(submitted(fixture, "demo", 1));
  CHECK(job.record.priority == shm::Priority::kHigh);
  CHECK(job.record.proof_kind.view() == "changed");
  CHECK(fixture.engine().control().evict("demo").kind == Kind::kInUse);  // it is kept
  CHECK(reload(fixture, {demo_circuit()}).removed.size() == 2);
  CHECK(fixture.engine().control().evict("demo").kind == Kind::kAccepted);
  fixture.await([&] { return circuit(fixture, "demo").srs.state == AllocationState::kAbsent; });
}

TEST_CASE("a circuit that becomes resident is loaded though nobody asks") {
  EngineFixture fixture;
  CircuitConfiguration next = multiplier_circuit();
  next.keep_resident = true;
  reload(fixture, {demo_circuit(), next, bls_circuit()});
  fixture.await(
      [&] { return circuit(fixture, "multiplier").srs.state == AllocationState::kReady; });
}

TEST_CASE("a job that names no priority has its circuit's") {
  EngineFixture fixture({}, [](EngineOptions& options) {
    options.configuration.circuits[0].priority = shm::Priority::kLow;
  });
  CHECK(fixture.final_status(submitted(fixture, "demo", 1)).record.priority == shm::Priority::kLow);
  const JobId named = fixture.submit("demo", 1, shm::Priority::kCritical).value();
  CHECK(fixture.final_status(named).record.priority == shm::Priority::kCritical);
}

TEST_CASE("a key that is not the pinned one fails its jobs with both digests") {
  const std::string expected(64, 'a');
  EngineFixture fixture(
      {}, [&](EngineOptions& options) { options.configuration.circuits[0].digest = expected; });
  const JobStatus status = fixture.final_status(submitted(fixture, "demo", 1));
  CHECK(status.record.state == JobState::kFailed);
  CHECK(status.record.failure_class == shm::FailureClass::kInternal);
  CHECK_THAT(status.failure, Contains("circuit.zkey") && Contains(expected));
  const std::string actual = status.failure.substr(status.failure.find("sha256 is ") + 10, 64);
  CHECK(circuit(fixture, "demo").srs.state == AllocationState::kCorrupt);
  CHECK_THAT(circuit(fixture, "demo").cause, Contains(expected));
  CircuitConfiguration pinned = demo_circuit();
  pinned.digest = actual;
  reload(fixture, {pinned});
  CHECK(outcome(fixture, submitted(fixture, "demo", 1)) == JobState::kDone);
  CHECK(fixture.snapshot().life == shm::EngineLife::kReady);
}

TEST_CASE("a key is asked for and dropped by name, but not while it is used") {
  Gate gate;
  EngineFixture fixture(hold_first(gate));
  EngineControl& control = fixture.engine().control();
  CHECK(control.preload("nobody").kind == Kind::kUnknown);
  CHECK(control.evict("nobody").kind == Kind::kUnknown);
  CHECK(control.evict("demo").kind == Kind::kNothingToDo);
  CHECK(control.preload("demo").kind == Kind::kAccepted);
  fixture.await([&] { return circuit(fixture, "demo").srs.state == AllocationState::kReady; });
  CHECK(control.preload("demo").kind == Kind::kNothingToDo);
  const JobId job = submitted(fixture, "demo", 2);
  gate.await_arrivals(1);
  const CircuitAnswer used = control.evict("demo");
  CHECK(used.kind == Kind::kInUse);
  CHECK_THAT(used.text, Contains("1 job and "));
  gate.open();
  CHECK(outcome(fixture, job) == JobState::kDone);
  CHECK(circuit(fixture, "demo").srs.hits == 1);
  CHECK(control.evict("demo").kind == Kind::kAccepted);
  fixture.await([&] { return circuit(fixture, "demo").srs.state == AllocationState::kAbsent; });
  CHECK(circuit(fixture, "demo").key_bytes == 0);
  CHECK(circuit(fixture, "demo").srs.evictions == 1);
}

TEST_CASE("a key that is asked for takes the place of one that nobody uses") {
  const std::uint64_t budget_bytes = peak_bytes("bls");
  EngineFixture fixture({}, [&](EngineOptions& options) {
    options.configuration.memory_budget_bytes = budget_bytes;
    options.configuration.eviction_min_idle_ns = 0;
  });
  CHECK(outcome(fixture, submitted(fixture, "demo", 1)) == JobState::kDone);
  CHECK(fixture.engine().control().preload("bls").kind == Kind::kAccepted);
  fixture.await([&] { return circuit(fixture, "bls").srs.state == AllocationState::kReady; });
}

TEST_CASE("a corrupt key that was repaired is loaded by an order or a reload") {
  const ScratchFolder scratch;
  const auto good = circuit_folder("bn128", "demo") / "circuit.zkey";
  CircuitConfiguration bad = demo_circuit("bad");
  bad.zkey = scratch / "bad.zkey";
  const auto spoil = [&] {
    std::ofstream(scratch / "bad.zkey") << "no key at all";  // not even a header
  };
  spoil();
  EngineFixture fixture({},
                        [&](EngineOptions& options) { options.configuration.circuits = {bad}; });
  EngineControl& control = fixture.engine().control();
  CHECK(control.preload("bad").kind == Kind::kImpossible);
  CHECK(fixture.snapshot().life == shm::EngineLife::kDegraded);
  SECTION("by an order") {
    copy_key(good, bad.zkey);
    CHECK(control.preload("bad").kind == Kind::kAccepted);
    fixture.await([&] { return circuit(fixture, "bad").srs.state == AllocationState::kReady; });
  }
  SECTION("by a reload") {
    CHECK(reload(fixture, {bad}).empty());
    copy_key(good, bad.zkey);
    CHECK(reload(fixture, {bad}).changed == std::vector<std::string>{"bad"});
  }
  CHECK(outcome(fixture, submitted(fixture, "bad", 1)) == JobState::kDone);
  CHECK(fixture.snapshot().life == shm::EngineLife::kReady);
  spoil();
  CHECK(reload(fixture, {bad}).changed == std::vector<std::string>{"bad"});
  CHECK(fixture.snapshot().life == shm::EngineLife::kDegraded);
  CHECK(fixture.submit("bad", 1).error().reason == RefusalReason::kBadCircuit);
  CHECK(reload(fixture, {}).removed == std::vector<std::string>{"bad"});
  CHECK(fixture.snapshot().life == shm::EngineLife::kReady);
  fixture.check_quiet();
}

TEST_CASE("jobs that wait fail by name when their circuit's new key is none") {
  const ScratchFolder scratch;
  Gate gate;
  EngineFixture fixture(hold_first(gate));
  const JobId running = submitted(fixture, "demo", 1);
  gate.await_arrivals(1);
  const JobId waiting = submitted(fixture, "demo", 1);
  CircuitConfiguration absent = demo_circuit();
  absent.zkey = scratch / "absent.zkey";
  reload(fixture, {absent});
  const JobStatus status = fixture.final_status(waiting);
  CHECK(status.record.state == JobState::kFailed);
  CHECK_THAT(status.failure, Contains("absent.zkey"));
  gate.open();
  CHECK(outcome(fixture, running) == JobState::kDone);
  fixture.check_quiet();
}

TEST_CASE("a load that nobody needs any more is stopped") {
  Gate gate;
  EngineFixture fixture({}, [&](EngineOptions& options) {
    options.key_reader = [&](const std::filesystem::path& path, const ProvingKeyOptions& how,
                             kernels::ThreadPool& threads) {
      gate.pass();
      return load_proving_key(path, how, threads);
    };
  });
  CHECK(fixture.engine().control().preload("demo").kind == Kind::kAccepted);
  gate.await_arrivals(1);
  reload(fixture, {multiplier_circuit()});
  CHECK(fixture.engine().circuits().size() == 2);  // it is being loaded
  gate.open();
  fixture.await([&] { return fixture.engine().circuits().size() == 1; });
  fixture.check_quiet();
}

std::vector<CircuitConfiguration> many_circuits(const std::string& prefix, std::size_t count) {
  std::vector<CircuitConfiguration> circuits;
  for (std::size_t i = 0; i < count; ++i) {
    circuits.push_back(demo_circuit(prefix + std::to_string(i)));
  }
  return circuits;
}

TEST_CASE("a reload that the status plane has no rows for is refused as a whole") {
  constexpr std::size_t kLeaving = kCircuitRowsMax - kCircuitsMax + 1;
  Gate gate;
  EngineFixture fixture(hold_first(gate));
  std::vector<JobId> jobs = {submitted(fixture, "demo", 1)};
  gate.await_arrivals(1);
  reload(fixture, many_circuits("old", kLeaving - 1));
  for (std::size_t i = 0; i + 1 < kLeaving; ++i) {
    jobs.push_back(submitted(fixture, "old" + std::to_string(i), 1));
  }
  CHECK(reload(fixture, {multiplier_circuit()}).removed.size() == kLeaving - 1);
  EngineControl& control = fixture.engine().control();
  const auto many = many_circuits("new", kCircuitsMax);
  const auto refused = control.take(configuration_of(many), {});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().error_class == ErrorClass::kRefused);
  CHECK_THAT(refused.error().text, Contains("97 circuits"));
  CHECK(control.circuit("multiplier").has_value());
  gate.open();
  for (const JobId id : jobs) CHECK(outcome(fixture, id) == JobState::kDone);
  fixture.await([&] { return control.take(configuration_of(many), {}).has_value(); });
  CHECK(outcome(fixture, submitted(fixture, "new63", 1)) == JobState::kDone);
}

TEST_CASE("a client that asks for its job again finds it though the circuit is gone") {
  Gate gate;
  EngineFixture fixture(hold_first(gate));
  const auto ask = [&fixture] {
    JobRequest request;
    request.circuit = "demo";
    request.request_id = "mine";
    request.witnesses.push_back({circuit_folder("bn128", "demo") / "witness.1.wtns", nullptr});
    return fixture.engine().submit(std::move(request));
  };
  const JobId job = ask().value();
  gate.await_arrivals(1);
  reload(fixture, {multiplier_circuit()});
  CHECK(ask().value() == job);
  gate.open();
  CHECK(outcome(fixture, job) == JobState::kDone);
  CHECK(ask().value() == job);
}

TEST_CASE("settings that are read each time hold from the reload on") {
  Gate gate;
  EngineFixture fixture(hold_first(gate));
  const JobId running = submitted(fixture, "demo", 1);
  gate.await_arrivals(1);
  Configuration next = configuration_of({demo_circuit(), multiplier_circuit(), bls_circuit()});
  next.job_queue_capacity = 1;
  const std::vector<SettingInEffect> shown = {{"job_queue_capacity", "1", "a test"}};
  REQUIRE(fixture.engine().control().take(next, shown).has_value());
  const shm::Snapshot now = fixture.snapshot();
  CHECK(now.engine().job_queue_capacity == 1);
  REQUIRE(now.rows<shm::SettingRecord>().size() == 1);
  CHECK(now.rows<shm::SettingRecord>()[0].value.view() == "1");
  std::vector<JobId> taken = {running};
  std::optional<Refusal> refusal;
  while (!refusal && taken.size() < 20) {
    const Submission next_job = fixture.submit("demo", 1);
    if (next_job) {
      taken.push_back(*next_job);
    } else {
      refusal = next_job.error();
    }
  }
  REQUIRE(refusal.has_value());
  CHECK(refusal->reason == RefusalReason::kQueueFull);
  gate.open();
  for (const JobId id : taken) CHECK(outcome(fixture, id) == JobState::kDone);
}

constexpr std::size_t kAtOnce = 6;

unsigned reloads() {
  const char* count = std::getenv("VITRINE_TEST_RELOADS");
  return count == nullptr ? 50 : static_cast<unsigned>(std::atoi(count));
}

// Some of the circuits, with some of the keys that each may have; `demo` is always there.
std::vector<CircuitConfiguration> some_circuits(std::mt19937_64& random,
                                                const std::filesystem::path& other_key) {
  std::vector<CircuitConfiguration> circuits = {demo_circuit()};
  if (random() % 2 == 0) {
    circuits[0].zkey = other_key;
    circuits[0].insecure = true;
  }
  circuits[0].keep_resident = random() % 4 == 0;
  if (random() % 3 != 0) circuits.push_back(multiplier_circuit());
  if (random() % 3 != 0) circuits.insert(circuits.begin(), bls_circuit());
  return circuits;
}

TEST_CASE("reloads and orders under load lose no job") {
  const ScratchFolder scratch;
  (void)write_other_key(scratch / "other.zkey");
  const std::uint64_t budget_bytes = peak_bytes("bls") + peak_bytes("demo");
  EngineFixture fixture({}, [&](EngineOptions& options) {
    options.configuration.memory_budget_bytes = budget_bytes;
    options.configuration.eviction_min_idle_ns = 1'000'000;
    options.configuration.synthesis_concurrency = 2;
  });
  const auto seed = std::random_device()();
  INFO("seed " << seed);
  std::atomic<bool> is_over{false};
  std::atomic<unsigned> submitted_jobs{0};
  std::vector<JobId> jobs;
  std::thread client([&] {
    std::mt19937_64 random(seed);
    const char* const circuits[] = {"demo", "demo", "multiplier", "bls"};
    while (!is_over) {
      auto job = fixture.submit(circuits[random() % 4], 1 + random() % 2);
      if (!job) job = fixture.submit("demo", 3);  // the other is away just now
      if (!job) break;
      jobs.push_back(*job);
      ++submitted_jobs;
      if (jobs.size() < kAtOnce) continue;
      (void)fixture.engine().wait(jobs[jobs.size() - kAtOnce],
                                  std::chrono::steady_clock::now() + std::chrono::seconds(60));
    }
  });
  std::mt19937_64 random(seed + 1);
  EngineControl& control = fixture.engine().control();
  unsigned taken = 0;
  for (unsigned number = 0; number < reloads(); ++number) {
    fixture.await([&] { return submitted_jobs >= number; });
    taken += control.take(configuration_of(some_circuits(random, scratch / "other.zkey")), {})
                 .has_value();
    (void)control.preload("multiplier");
    (void)control.evict("bls");
  }
  is_over = true;
  client.join();
  CHECK(taken == reloads());
  REQUIRE_FALSE(jobs.empty());
  for (const JobId id : jobs) CHECK(outcome(fixture, id) == JobState::kDone);
  reload(fixture, {});
  fixture.snapshot_when(
      [](const shm::Snapshot& now) { return now.rows<shm::AllocationRecord>().empty(); });
  fixture.check_quiet();
}

}  // namespace
}  // namespace vitrine::engine::testing
