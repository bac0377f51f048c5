// SPDX-License-Identifier: Apache-2.0
// The engine's accounts under random work without computation: every step of jobs and keys, taken
// by many threads, while a reader holds each snapshot to the invariants (I4 above all).
#include <catch2/catch.hpp>
#include <cstdlib>
#include <random>
#include <thread>

#include "engine/engine_start.h"
#include "engine/job_lifecycle.h"
#include "engine/partition_retry.h"
#include "shm/invariants.h"
#include "tests/engine/engine_fixture.h"

namespace vitrine::engine::testing {
namespace {

using shm::PartitionStage;

constexpr unsigned kThreads = 8;
constexpr std::uint64_t kJobsAtOnce = 24;

unsigned steps_of_each() {
  const char* text = std::getenv("VITRINE_MEMORY_STEPS");
  return (text != nullptr ? static_cast<unsigned>(std::atoi(text)) : 40'000) / kThreads;
}

EngineOptions options_for(const std::filesystem::path& segment) {
  EngineOptions options;
  options.configuration.instance = "accounts";
  options.configuration.segment = segment;
  options.configuration.synthesis_concurrency = 3;
  options.configuration.device_queue_capacity = 3;
  options.configuration.key_loaders = 2;
  options.configuration.eviction_min_idle_ns = 0;
  options.configuration.starvation_limit_ns = 5'000'000;
  options.configuration.memory_budget_bytes = std::uint64_t{1} << 30;
  options.configuration.circuits = {
      {"demo", circuit_folder("bn128", "demo") / "circuit.zkey", "demo", false, false},
      {"multiplier", circuit_folder("bn128", "multiplier") / "circuit.zkey", "small", false, false},
      {"bls", circuit_folder("bls12381", "demo") / "circuit.zkey", "demo", false, false}};
  return options;
}

// Room for the largest circuit with two partitions, so that keys and partitions compete.
std::uint64_t tight_budget(EngineOptions options) {
  std::uint64_t bytes = 0;
  const auto model = make_model(options, 2).value();
  for (const Circuit& circuit : model->keys.circuits()) {
    bytes = std::max(bytes, circuit.key_bytes() + 2 * circuit.working.total());
  }
  return bytes;
}

std::unique_ptr<EngineState> state_for(EngineOptions options) {
  options.configuration.memory_budget_bytes = tight_budget(options);
  auto model = make_model(options, 2).value();
  auto publication = publish_segment(options).value();
  auto state =
      std::make_unique<EngineState>(std::move(publication.writer), std::move(model), nullptr);
  state->change([](Change& change) {
    change.publish().started(change.model());
    change.set_life(shm::EngineLife::kReady);
  });
  return state;
}

// Takes one random step of the engine's work, as its threads would.
class RandomSteps {
 public:
  RandomSteps(EngineState& state, std::atomic<JobId>& last_id, unsigned seed)
      : state_(state), last_id_(last_id), random_(seed) {}

  void take() {
    const unsigned draw = random_() % 100;
    if (draw < 15) return submit();
    if (draw < 18) return cancel();
    if (draw < 35) return step_of_keys();
    step_of_partition();
  }
  void end_all() {
    while (!state_.look([](EngineModel& model) { return model.jobs.active().empty(); })) {
      step_of_keys();
      step_of_partition();
    }
  }

 private:
  bool happens(unsigned percent) { return random_() % 100 < percent; }

  void submit() {
    const char* circuits[] = {"demo", "multiplier", "bls"};
    JobRequest request;
    request.circuit = circuits[random_() % 3];
    request.priority = static_cast<shm::Priority>(1 + random_() % 4);
    request.witnesses.resize(1 + random_() % 4);
    const JobId id = ++last_id_;
    state_.change([&](Change& change) {
      if (change.model().jobs.active().size() >= kJobsAtOnce) return;
      (void)receive_job(change, id, request);
    });
  }

  void cancel() {
    state_.change([&](Change& change) {
      if (Job* job = any_job(change)) {
        stop_job(change, *job, {ErrorClass::kCancelled, "by a client", {}, {}, {}});
      }
    });
  }

  void step_of_keys() {
    const bool fails = happens(5);
    Circuit* loading =
        state_.change([](Change& change) { return change.model().keys.next_load(); });
    if (loading != nullptr) {
      state_.change([&](Change& change) {
        ProvingKeyCache& keys = change.model().keys;
        if (fails) {
          keys.fail_load(*loading, {ErrorClass::kOutOfMemory, "no memory"}, change.now());
        } else {
          keys.finish_load(*loading, std::make_shared<const ProvingKey>(), change.now());
        }
        change.publish().key_settled(*loading);
      });
    }
    auto dropped =
        state_.change([](Change& change) { return change.model().keys.take_eviction(); });
    if (dropped.circuit == nullptr) return;
    state_.change([&](Change& change) {
      change.model().keys.finish_eviction(*dropped.circuit, change.now());
      change.publish().key_dropped(*dropped.circuit);
    });
  }

  Job* any_job(Change& change) {
    const std::vector<Job*>& jobs = change.model().jobs.active();
    return jobs.empty() ? nullptr : jobs[random_() % jobs.size()];
  }

  void step_of_partition() {
    state_.change([&](Change& change) {
      for (unsigned tries = 0; tries < 8; ++tries) {
        Job* job = any_job(change);
        if (job == nullptr) return;
        Partition& partition = job->partitions[random_() % job->partition_count()];
        const bool waits_for_plan =
            partition.stage == PartitionStage::kPending && partition.reserved.bytes() == 0;
        if (waits_for_plan || shm::is_final(partition.stage)) continue;
        return step_of_partition(change, partition);
      }
    });
  }

  void step_of_partition(Change& change, Partition& partition) {
    switch (partition.stage) {
      case PartitionStage::kPending:
        if (partition.reserved.bytes() > 0) start_synthesis(change, partition);
        return;
      case PartitionStage::kSynthesizing:
        if (fails(partition)) return fail(change, partition);
        return queue_for_device(change, partition, nullptr);
      case PartitionStage::kGpuQueued:
        return step_to_worker(change, partition);
      case PartitionStage::kGpuProving:
        if (fails(partition)) return fail(change, partition);
        if (!partition.gpu_start.is_set()) return step_to_kernels(change, partition);
        return return_constraint_bytes(change, partition);
      case PartitionStage::kFinishing:
        if (fails(partition)) return fail(change, partition);
        end_kernels(change, partition);
        return end(change, partition, {std::make_shared<const ProofTexts>(), {}});
      default:
        return;
    }
  }

  void step_to_worker(Change& change, Partition& partition) {
    for (Worker& worker : change.model().workers) {
      if (worker.partition != nullptr) continue;
      (void)pick_up(change, partition, worker);
      return;
    }
  }

  void step_to_kernels(Change& change, Partition& partition) {
    if (happens(10)) return put_back(change, partition, nullptr, "put back");
    const Device& device = *change.model().workers[*partition.worker].device;
    if (device.in_kernels == nullptr) start_kernels(change, partition);
  }

  bool fails(const Partition& partition) {
    return partition.job->failure.has_value() || happens(3);
  }

  void fail(Change& change, Partition& partition) {
    const ErrorClass classes[] = {ErrorClass::kBadInput, ErrorClass::kVerifyFailed};
    const Error error =
        partition.job->failure ? cancelled_error() : Error{classes[random_() % 2], "it went wrong"};
    end(change, partition, {nullptr, error});
  }

  void end(Change& change, Partition& partition, PartitionEnd how) {
    if (Job* job = finish_partition(change, partition, std::move(how))) {
      finish_assembly(change, *job, std::make_shared<const std::string>("result"));
    }
  }

  EngineState& state_;
  std::atomic<JobId>& last_id_;
  std::mt19937 random_;
};

TEST_CASE("whatever jobs and keys go through, the accounts agree in every snapshot", "[E4]") {
  const auto seed = std::random_device{}();
  INFO("seed " << seed);
  const ScratchFolder scratch("/dev/shm");
  const auto segment = scratch / "accounts.segment";
  const auto state = state_for(options_for(segment));
  SegmentWatch watch(segment);
  std::atomic<JobId> last_id{0};
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < kThreads; ++number) {
    threads.emplace_back([&, number] {
      RandomSteps steps(*state, last_id, seed + number);
      for (unsigned i = 0, count = steps_of_each(); i < count; ++i) steps.take();
    });
  }
  for (std::thread& thread : threads) thread.join();
  RandomSteps(*state, last_id, seed + kThreads).end_all();
  for (const std::string& violation : watch.stop()) FAIL_CHECK(violation);
  CHECK(watch.snapshots() > 0);
  state->look([](EngineModel& model) {
    std::uint64_t evictions = 0, key_bytes = 0;
    for (const Circuit& circuit : model.keys.circuits()) {
      CHECK(circuit.references == 0);
      evictions += circuit.srs.evictions();
      key_bytes += circuit.srs.reserved_bytes() + circuit.pce.reserved_bytes();
    }
    CHECK(evictions > 0);
    for (const PartitionStage stage :
         {PartitionStage::kDone, PartitionStage::kFailed, PartitionStage::kCancelled}) {
      std::uint64_t ended = 0;
      for (const auto& tally : model.tallies) {
        ended += tally->partitions_ended[static_cast<std::size_t>(stage)];
      }
      CHECK(ended > 10);
    }
    CHECK(model.budget.reserved_bytes() == key_bytes);
    CHECK(model.budget.reserved_bytes(MemoryConsumer::kWorking) == 0);
    CHECK(model.budget.peak_bytes() <= model.budget.total_bytes());
    return 0;
  });
}

}  // namespace
}  // namespace vitrine::engine::testing
