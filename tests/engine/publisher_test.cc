// SPDX-License-Identifier: Apache-2.0
// The engine's publish path as the kernel and the allocator see it: not at all.
#include "engine/publisher.h"

#include <catch2/catch.hpp>
#include <memory>

#include "shm/clock.h"
#include "tests/engine/real_inputs.h"
#include "tests/shm/allocation_count.h"
#include "tests/shm/system_call_count.h"

namespace vitrine::engine::testing {
namespace {

// A model with one job of each kind of end, and a segment that nobody else sees.
class PublishPath {
 public:
  PublishPath()
      : writer_(shm::SegmentWriter::in_private_memory(shm::SegmentOptions{})),
        model_(std::uint64_t{1} << 30, ProvingKeyCache(circuits(), 2), {}) {
    model_.tallies.push_back(std::make_unique<KindTally>());
    model_.devices.resize(1);
    model_.workers.resize(2);
    for (Worker& worker : model_.workers) worker.device = &model_.devices[0];
    done_ = &add_job(1, shm::JobState::kDone);
    failed_ = &add_job(2, shm::JobState::kFailed);
    failed_->failure = Failure{ErrorClass::kBadInput, "a reason too long for a short string",
                               shm::PartitionStage::kSynthesizing, 1, 0};
    failed_->partitions[0].failure_class = ErrorClass::kBadInput;
    failed_->partitions[0].stage = shm::PartitionStage::kFailed;
  }

  // One transaction for each lifecycle event.
  void publish_all() {
    for (Job* job : {done_, failed_}) publish_job(*job);
    in_transaction([&](Publisher& publish) { publish.started(model_); });
    in_transaction([&](Publisher& publish) {
      const Circuit& circuit = model_.keys.circuits()[0];
      publish.key_loading(circuit);
      publish.key_progressed(circuit);
      publish.key_settled(circuit);
    });
    in_transaction([&](Publisher& publish) {
      publish.backend_fell_back();
      publish.draining();
      publish.stopped(0);
    });
  }

 private:
  static std::vector<CircuitConfiguration> circuits() {
    return {{"a-circuit-with-a-long-name", circuit_folder("bn128", "demo") / "circuit.zkey", "demo",
             false, false}};
  }

  Job& add_job(JobId id, shm::JobState state) {
    Job& job = model_.jobs.add(id, 8);
    job.circuit = model_.keys.circuits()[0].shared_from_this();
    job.tally = model_.tallies[0].get();
    job.request = "a request id that is not short at all";
    set_state(job, state);
    return job;
  }

  template <class Body>
  void in_transaction(Body body) {
    shm::Transaction transaction = writer_.begin();
    Publisher publisher(transaction, {shm::monotonic_ns()});
    body(publisher);
    model_.backend_fallbacks += 1;  // so that the totals differ each time
    publisher.totals(model_);
  }

  void publish_job(Job& job) {
    in_transaction([&](Publisher& publish) {
      publish.job_received(job);
      publish.job_considered(job);
      publish.job_waits(job);
      publish.job_admitted(job);
    });
    Partition& partition = job.partitions[0];
    partition.worker = 0;
    partition.device = 0;
    Worker& worker = model_.workers[0];
    worker.partition = &partition;
    in_transaction([&](Publisher& publish) { publish.partition_granted(partition); });
    in_transaction([&](Publisher& publish) { publish.synthesis_started(partition); });
    in_transaction([&](Publisher& publish) {
      publish.synthesis_ended(partition);
      publish.device_queued(partition);
    });
    in_transaction([&](Publisher& publish) { publish.picked_up(partition, worker, model_); });
    in_transaction([&](Publisher& publish) { publish.kernels_started(partition, model_); });
    in_transaction([&](Publisher& publish) { publish.bytes_returned(partition, model_); });
    in_transaction([&](Publisher& publish) { publish.kernels_ended(partition, model_); });
    if (!job.failure) partition.stage = shm::PartitionStage::kDone;
    in_transaction([&](Publisher& publish) {
      publish.partition_finished(partition);
      publish.device_changed(model_.devices[0]);
    });
    in_transaction([&](Publisher& publish) { publish.job_assembling(job); });
    in_transaction([&](Publisher& publish) { publish.job_finished(job); });
    in_transaction([&](Publisher& publish) { publish.job_recycled(job); });
    in_transaction([&](Publisher& publish) {
      publish.job_refused(job, 8);
      publish.job_refused(99, 8);
    });
  }

  shm::SegmentWriter writer_;
  EngineModel model_;
  Job* done_;
  Job* failed_;
};

TEST_CASE("publishing every lifecycle event allocates nothing") {
  PublishPath path;
  path.publish_all();
  const std::size_t before = allocations;
  for (int i = 0; i < 1000; ++i) path.publish_all();
  CHECK(allocations == before);
}

TEST_CASE("publishing every lifecycle event makes no system call") {
  PublishPath path;
  CHECK(shm::count_system_calls([&path] {
          for (int i = 0; i < 1000; ++i) path.publish_all();
        }) == 0);
}

}  // namespace
}  // namespace vitrine::engine::testing
