// SPDX-License-Identifier: Apache-2.0
// Jobs that give inputs: their witnesses are made by a command of the circuit's configuration.
#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "tests/engine/durable_fixture.h"
#include "tests/engine/witness_script.h"
#include "tests/full_disk.h"

namespace vitrine::engine::testing {
namespace {

using Catch::Matchers::Contains;
using shm::JobState;
using shm::PartitionStage;

// An engine whose circuit `demo` has the script, and one job of an input.
class ScriptedJob {
 public:
  explicit ScriptedJob(const std::string& text,
                       const std::function<void(EngineOptions&)>& adjust = {})
      : script(text), engine({}, [&](EngineOptions& options) {
          script.configure(options);
          if (adjust) adjust(options);
        }) {}

  JobId submit() { return engine.received(engine.input_request("{\"a\": 1}")).job; }
  JobStatus run() { return engine.final_status(submit()); }
  // The job failed with that class in that stage; nothing is left of its secrets.
  std::string failure(ErrorClass error_class, PartitionStage stage) {
    const JobStatus status = run();
    CHECK(status.record.state == JobState::kFailed);
    CHECK(status.record.failure_class == failure_class_of(error_class));
    CHECK(status.record.failure_stage == stage);
    CHECK(status.record.failure_partition == shm::Index::of(0));
    engine.fixture().await([&] { return engine.spooled_files() == 0; });
    engine.fixture().check_quiet();
    return status.failure;
  }

  WitnessScript script;
  DurableFixture engine;
};

shm::Snapshot while_witnessing(DurableFixture& engine) {
  return engine.fixture().snapshot_when([](const shm::Snapshot& now) {
    for (const auto& row : now.rows<shm::PartitionRecord>()) {
      if (row.stage == PartitionStage::kWitnessing) return true;
    }
    return false;
  });
}

TEST_CASE("a job of inputs is proved with the witnesses that the command makes") {
  ScriptedJob job("cp \"$1\" $3/seen; stat -c '%a %n' \"$1\" \"${1%/*}\" >$3/modes; " +
                  copy_witness());
  const JobId id = job.submit();
  CHECK(job.engine.final_status(id).record.state == JobState::kDone);
  CHECK(read_file(job.script.note("seen")) == "{\"a\": 1}");
  CHECK_THAT(read_file(job.script.note("modes")),
             Contains("600 ") && Contains("700 ") && Contains(".work/input.json\n"));
  const auto proof = job.engine.engine().proof(id, 0);
  REQUIRE(proof != nullptr);
  JobRequest given = job.engine.request("", 4);
  const JobId other = job.engine.received(std::move(given)).job;
  CHECK(job.engine.final_status(other).record.state == JobState::kDone);
  CHECK(proof->inputs == job.engine.engine().proof(other, 3)->inputs);
  job.engine.fixture().await([&] { return job.engine.spooled_files() == 0; });
}

TEST_CASE("a partition whose witness is being made is shown as witnessing, under the CPU limit") {
  ScriptedJob job("echo >$3/here; while [ ! -e $3/go ]; do sleep 0.01; done; " + copy_witness());
  JobRequest request = job.engine.input_request("{}");
  JobRequest second = job.engine.input_request("{}");
  request.witnesses.push_back(std::move(second.witnesses[0]));
  const JobId id = job.engine.received(std::move(request)).job;
  const shm::Snapshot now = while_witnessing(job.engine);
  CHECK(job_row(now, id).partitions_witnessing == 1);
  CHECK(job_row(now, id).partitions_pending == 1);
  CHECK(now.engine().synthesis_active == 1);
  CHECK(now.rows<shm::LimiterRecord>()[0].used == 1);
  CHECK(now.rows<shm::PartitionRecord>()[0].synth_start.is_set());
  bool is_step_shown = false;
  for (const auto& thread : now.rows<shm::ThreadRecord>()) {
    if (thread.step.view() != "witnessing") continue;
    is_step_shown = true;
    CHECK(thread.job.value == id);
  }
  CHECK(is_step_shown);
  std::ofstream(job.script.note("go"));
  CHECK(job.engine.final_status(id).record.state == JobState::kDone);
}

TEST_CASE("a command that fails fails the job as a bad input, with what it said") {
  ScriptedJob job("echo 'Error: Assert Failed.' >&2; echo '    at line 7' >&2; exit 4");
  CHECK(job.failure(ErrorClass::kBadInput, PartitionStage::kWitnessing) ==
        "input 0 (in.json): witness_command exited with 4: Error: Assert Failed.");
}

TEST_CASE("the name of the engine's copy is not in what a command says of it") {
  ScriptedJob job("echo \"error: $1: no number\" >&2; exit 1");
  CHECK(job.failure(ErrorClass::kBadInput, PartitionStage::kWitnessing) ==
        "input 0 (in.json): witness_command exited with 1: error: input.json: no number");
}

TEST_CASE("a command that aborts blames its input, one that is killed from outside does not") {
  ScriptedJob aborts("kill -ABRT $$");
  CHECK_THAT(aborts.failure(ErrorClass::kBadInput, PartitionStage::kWitnessing),
             Contains("was ended by signal 6"));
  ScriptedJob killed("kill -KILL $$");
  CHECK_THAT(killed.failure(ErrorClass::kInternal, PartitionStage::kWitnessing),
             Contains("was ended by signal 9"));
}

TEST_CASE("a command that leaves no witness, or something else in its place, is told so") {
  for (const char* text : {"exit 0", "ln -s /etc/passwd \"$2\"", "mkdir \"$2\""}) {
    ScriptedJob job(text);
    CHECK(job.failure(ErrorClass::kBadInput, PartitionStage::kWitnessing) ==
          "input 0 (in.json): witness_command made no witness");
  }
}

TEST_CASE("a witness that is rubbish, or of another circuit, fails as one that was given would") {
  ScriptedJob rubbish("head -c 1000 /dev/urandom >\"$2\"");
  CHECK_THAT(rubbish.failure(ErrorClass::kBadInput, PartitionStage::kSynthesizing),
             Contains("input 0 (in.json): the witness made from it: "));
  ScriptedJob other("cp " + (circuit_folder("bn128", "multiplier") / "witness.1.wtns").string() +
                    " \"$2\"");
  CHECK_THAT(other.failure(ErrorClass::kBadInput, PartitionStage::kSynthesizing),
             Contains("values, expected the circuit's"));
  ScriptedJob large("trap '' XFSZ; head -c 10000000 /dev/zero >\"$2\"");
  large.failure(ErrorClass::kBadInput, PartitionStage::kWitnessing);
}

TEST_CASE("a disk that has no room for a witness is no fault of the input") {
  const ScratchFolder scratch;
  const SmallDisk disk(scratch.path());
  if (!disk.is_there()) {
    WARN("not tested: only root may mount a file system");
    return;
  }
  const auto spool = Spool::open(scratch / "spool", std::uint64_t{1} << 24).value();
  const std::string fill = "for i in 1 2 3; do head -c 1000000 /dev/zero >ballast$i; done; ";
  for (const char* end : {" || exit 1", "; exit 0", " || kill -ABRT $$"}) {
    INFO(end);
    ScriptedJob job(fill + copy_witness() + end,
                    [&](EngineOptions& options) { options.spool = spool.get(); });
    CHECK(job.failure(ErrorClass::kOutOfMemory, PartitionStage::kWitnessing) ==
          "input 0 (in.json): the spool: its disk has no room for the witness");
  }
  ScriptedJob wrong("echo 'Error: Assert Failed.' >&2; exit 4",
                    [&](EngineOptions& options) { options.spool = spool.get(); });
  wrong.failure(ErrorClass::kBadInput, PartitionStage::kWitnessing);
}

TEST_CASE("a command that is late fails its job with class timeout") {
  ScriptedJob job("sleep 600", [](EngineOptions& options) {
    options.configuration.circuits[0].witness_timeout_ns = 200'000'000;
  });
  CHECK(job.failure(ErrorClass::kTimeout, PartitionStage::kWitnessing) ==
        "input 0 (in.json): witness_command took longer than its witness_timeout of 200ms");
}

TEST_CASE("a command that cannot be started is no fault of the input") {
  ScriptedJob missing("exit 0", [](EngineOptions& options) {
    options.configuration.circuits[0].witness_command[0] = "/nowhere/make_witness";
  });
  CHECK_THAT(missing.failure(ErrorClass::kInternal, PartitionStage::kWitnessing),
             Contains("witness_command: /nowhere/make_witness: is not a program"));
  ScriptedJob no_interpreter("exit 0");
  std::ofstream(no_interpreter.script.path()) << "#!/nowhere/sh\n";
  CHECK_THAT(no_interpreter.failure(ErrorClass::kInternal, PartitionStage::kWitnessing),
             Contains("No such file"));
}

TEST_CASE("a job is cancelled while its witness is made, and the command is gone", "[E14]") {
  ScriptedJob job("trap '' TERM; echo >$3/here; sleep 600; echo >$3/there");
  const JobId id = job.submit();
  job.engine.fixture().await([&] { return job.script.has_note("here"); });
  CHECK(job.engine.engine().cancel(id) == CancelOutcome::kStopping);
  CHECK(job.engine.final_status(id).record.state == JobState::kCancelled);
  job.engine.fixture().await([&] { return job.engine.spooled_files() == 0; });
  job.engine.fixture().check_quiet();
  CHECK_FALSE(job.script.has_note("there"));
}

TEST_CASE("a drain stops a command, and the next start runs it again with the same input",
          "[E14]") {
  ScriptedJob job("cp \"$1\" $3/seen; [ -e $3/go ] || { echo >$3/here; sleep 600; }; " +
                  copy_witness());
  const JobId id = job.submit();
  job.engine.fixture().await([&] { return job.script.has_note("here"); });
  job.engine.stop();
  CHECK(job.engine.spooled_files() == 1);
  std::filesystem::remove(job.script.note("seen"));
  std::ofstream(job.script.note("go"));
  job.engine.start({}, [&](EngineOptions& options) { job.script.configure(options); });
  const JobStatus status = job.engine.final_status(id);
  CHECK(status.record.state == JobState::kDone);
  CHECK(status.record.attempt == 2);
  CHECK(read_file(job.script.note("seen")) == "{\"a\": 1}");
  job.engine.fixture().await([&] { return job.engine.spooled_files() == 0; });
}

TEST_CASE("a job of inputs whose circuit has lost its command ends as lost at the next start") {
  ScriptedJob job("echo >$3/here; sleep 600");
  const JobId id = job.submit();
  job.engine.fixture().await([&] { return job.script.has_note("here"); });
  job.engine.stop();
  job.engine.start();
  const JobStatus status = job.engine.final_status(id);
  CHECK(status.record.state == JobState::kLost);
  CHECK_THAT(status.failure, Contains("circuit demo has no witness_command"));
}

TEST_CASE("an input for a circuit without a command is refused, shown and counted") {
  DurableFixture engine;
  const Reception reception = engine.engine().receive(engine.input_request("{}"));
  REQUIRE(reception.has_error());
  CHECK(reception.error().reason == RefusalReason::kNoWitnessCommand);
  CHECK(reception.error().text ==
        "circuit demo has no witness_command, so it takes witnesses, not inputs");
  CHECK(engine.fixture().snapshot().rows<shm::JobRecord>()[0].state == JobState::kRefused);
  CHECK(engine.spooled_files() == 0);
}

TEST_CASE("a partition that begins again on another device has its witness made again") {
  std::atomic<unsigned> faults{1};
  WitnessScript script("echo x >>$3/runs; " + copy_witness());
  DurableFixture engine(
      [&](ScriptedStage stage, unsigned) -> Result<void> {
        if (stage != ScriptedStage::kFinish || faults.exchange(0) == 0) return {};
        return Error{ErrorClass::kDeviceError, "told to"};
      },
      [&](EngineOptions& options) {
        script.configure(options);
        options.configuration.cpu_devices = 2;
      });
  const JobId id = engine.received(engine.input_request("{}")).job;
  CHECK(engine.final_status(id).record.state == JobState::kDone);
  CHECK(read_file(script.note("runs")) == "x\nx\n");
}

}  // namespace
}  // namespace vitrine::engine::testing
