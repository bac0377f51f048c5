// SPDX-License-Identifier: Apache-2.0
// How much of the time a device is in its kernels while work is queued, when synthesis takes as
// long as the kernels: two workers and synthesis ahead of them, against one thing after the other.
//
//   vitrine-bench-pipeline ROUNDS
//
// Prints one JSON object per measurement; the two ways take turns.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "tests/bench/timed_backend.h"

namespace vitrine::bench {
namespace {

using namespace std::chrono_literals;

constexpr unsigned kPartitions = 100;
constexpr StageTimes kTimes{20ms, 10ms, 10ms, 4ms};

enum class Way { kPipeline, kSequential };

std::unique_ptr<engine::Engine> engine_for(Way way, const std::shared_ptr<TimedBackend>& backend) {
  engine::EngineOptions options;
  options.configuration.instance = "bench-pipeline-" + std::to_string(::getpid());
  options.configuration.segment = "/dev/shm/vitrine." + options.configuration.instance;
  options.configuration.workers_per_device = way == Way::kPipeline ? 2 : 1;
  options.backend = backend;
  return start_engine(std::move(options));
}

// One job of many partitions, or as many jobs of which each waits for the one before.
void work(engine::Engine& engine, Way way) {
  if (way == Way::kPipeline) return await_end(engine, engine.submit(job_of(kPartitions)).value());
  for (unsigned i = 0; i < kPartitions; ++i) await_end(engine, engine.submit(job_of(1)).value());
}

void measure(Way way, int round) {
  const auto backend = std::make_shared<TimedBackend>(kTimes);
  const auto engine = engine_for(way, backend);
  await_end(*engine, engine->submit(job_of(1)).value());  // loads the key
  const auto before = backend->in_kernels();
  const auto begin = std::chrono::steady_clock::now();
  work(*engine, way);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const std::chrono::duration<double> busy = backend->in_kernels() - before;
  // The first partition has to be synthesized, and the last one verified, beside an idle device.
  const std::chrono::duration<double> ends =
      way == Way::kPipeline ? kTimes.synthesize + kTimes.verify : 0us;
  std::printf("{\"round\":%d,\"way\":\"%s\",\"seconds\":%.6f,\"busy\":%.6f}\n", round,
              way == Way::kPipeline ? "pipeline" : "sequential", took.count(),
              busy / (took - ends));
}

}  // namespace
}  // namespace vitrine::bench

int main(int count, char** words) {
  const int rounds = count > 1 ? std::atoi(words[1]) : 3;
  for (int round = 0; round < rounds; ++round) {
    vitrine::bench::measure(vitrine::bench::Way::kPipeline, round);
    vitrine::bench::measure(vitrine::bench::Way::kSequential, round);
  }
  return 0;
}
