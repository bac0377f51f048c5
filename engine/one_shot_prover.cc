// SPDX-License-Identifier: Apache-2.0
#include "engine/one_shot_prover.h"

#include <chrono>
#include <cstdlib>
#include <utility>

#include "engine/exit_codes.h"

namespace vitrine::engine {
namespace {

constexpr const char* kCircuit = "circuit";
constexpr auto kLookEvery = std::chrono::milliseconds(100);

int exit_code_of(shm::JobState state, shm::FailureClass failure_class) {
  if (failure_class == shm::FailureClass::kTimeout) return kExitTimeout;
  switch (state) {
    case shm::JobState::kRefused:
      return kExitRefused;
    case shm::JobState::kLost:
      return kExitLost;
    default:
      return kExitFailed;
  }
}

EngineOptions engine_options(const OneShotRequest& request) {
  EngineOptions options;
  options.configuration.instance = request.instance;
  options.configuration.segment = request.segment;
  options.configuration.threads = request.threads;
  CircuitConfiguration circuit;
  circuit.id = kCircuit;
  circuit.zkey = request.zkey;
  circuit.insecure = request.insecure;
  options.configuration.circuits = {circuit};
  // One job: a small segment costs less to make than the daemon's.
  options.capacity.jobs = 4;
  options.capacity.partitions = 2 * kPartitionsMax;
  options.segment_end = EngineOptions::SegmentEnd::kRemove;
  options.journal = request.journal;
  return options;
}

std::vector<WitnessFile> witness_files(const std::vector<std::filesystem::path>& paths) {
  std::vector<WitnessFile> files;
  for (const std::filesystem::path& path : paths) files.push_back({path, nullptr});
  return files;
}

}  // namespace

OneShotProver::Started OneShotProver::start(const OneShotRequest& request) {
  // The engine takes a circuit with an unreadable key and refuses its jobs; here the reason is all
  // there is to say.
  const auto shape = check_proving_key_header(
      request.zkey, request.insecure ? KeyTrust::kInsecure : KeyTrust::kContributed);
  if (!shape) return OneShotFailure{kExitFailed, shape.error().text};
  auto engine = Engine::start(engine_options(request));
  if (!engine) {
    return OneShotFailure{exit_code_of(engine.error().kind), engine.error().text};
  }
  OneShotProver prover(std::move(*engine), request.wtns);
  prover.engine_->declare_ready();
  JobRequest job;
  job.circuit = kCircuit;
  job.witnesses = witness_files(request.wtns);
  const Submission submission = prover.engine_->submit(std::move(job));
  if (!submission) return OneShotFailure{kExitRefused, submission.error().text};
  prover.job_ = *submission;
  return prover;
}

std::optional<OneShotFailure> OneShotProver::wait(ProgressDisplay& display,
                                                  const std::atomic<bool>& cancelled) {
  while (true) {
    const auto status = engine_->wait(job_, std::chrono::steady_clock::now() + kLookEvery);
    if (!status) return OneShotFailure{kExitLost, "the job is lost"};
    display.update(status->record.partitions_done, doing(status->record));
    if (status->is_final()) return failure_of(*status);
    if (cancelled.load(std::memory_order_relaxed)) (void)engine_->cancel(job_);
  }
}

std::shared_ptr<const ProofTexts> OneShotProver::proof(std::uint32_t partition) {
  return engine_->proof(job_, partition);
}

StageTimings OneShotProver::timings() {
  StageTimings timings;
  const auto status = engine_->status(job_);
  std::uint64_t first_synthesis_ns = 0;
  const auto partitions = engine_->partitions(job_);
  for (const shm::PartitionRecord& partition : partitions) {
    const std::uint64_t begin_ns = partition.synth_start.ns;
    if (first_synthesis_ns == 0 || begin_ns < first_synthesis_ns) first_synthesis_ns = begin_ns;
  }
  if (status) timings.add("load key", status->record.submitted.ns, first_synthesis_ns);
  for (const shm::PartitionRecord& partition : partitions) {
    timings.add("synthesizing", partition.synth_start.ns, partition.synth_end.ns);
    timings.add("gpu_queued", partition.gpu_queue.ns, partition.gpu_start.ns);
    timings.add("gpu_proving", partition.gpu_start.ns, partition.gpu_end.ns);
    timings.add("finishing", partition.gpu_end.ns, partition.finished.ns);
  }
  return timings;
}

std::string OneShotProver::doing(const shm::JobRecord& job) {
  if (job.partitions_gpu_proving > 0) return "proving";
  if (job.partitions_finishing > 0) return "verifying";
  if (job.partitions_synthesizing > 0) return "synthesizing";
  for (const shm::AllocationRecord& key : engine_->circuits()) {
    if (key.state != shm::AllocationState::kLoading || key.total_bytes == 0) continue;
    return "loading the key, " + std::to_string(key.loaded_bytes * 100 / key.total_bytes) + " %";
  }
  return {};
}

std::optional<OneShotFailure> OneShotProver::failure_of(const JobStatus& status) const {
  const shm::JobRecord& job = status.record;
  if (job.state == shm::JobState::kDone) return std::nullopt;
  if (job.state == shm::JobState::kCancelled) return OneShotFailure{kExitCancelled, "cancelled"};
  // What is wrong with a file names it already; others do not say which witness it was. Before
  // synthesis it was none.
  const bool names_none = job.failure_partition.is_set() &&
                          job.failure_stage != shm::PartitionStage::kPending &&
                          job.failure_class != shm::FailureClass::kBadInput &&
                          job.failure_class != shm::FailureClass::kVerifyFailed;
  const std::string prefix =
      names_none ? wtns_[job.failure_partition.number()].string() + ": " : std::string();
  return OneShotFailure{exit_code_of(job.state, job.failure_class), prefix + status.failure};
}

}  // namespace vitrine::engine
