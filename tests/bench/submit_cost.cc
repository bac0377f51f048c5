// SPDX-License-Identifier: Apache-2.0
// How long a submit waits for locks while an engine works: 2,000 jobs, in memory and on disk.
//
//   vitrine-bench-submit ROUNDS
//
// Prints one JSON object per measurement. Every mutex that the submitting thread takes counts, the
// state mutex above all; what it waits for the disk is no lock and does not.
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "engine/job_store.h"
#include "shm/clock.h"
#include "tests/bench/timed_backend.h"
#include "tests/scratch_folder.h"

namespace vitrine::bench {
namespace {

using namespace std::chrono_literals;

constexpr unsigned kJobs = 2'000;
constexpr StageTimes kTimes{200us, 100us, 100us, 50us};

// Of the submitting thread.
thread_local bool is_counting = false;
thread_local std::uint64_t waited_ns = 0;

struct SubmitCost {
  double p50_us, p99_us, longest_us, wait_p99_us, longest_wait_us;
};

double in_us(std::uint64_t ns) { return static_cast<double>(ns) / 1000; }

// Submits until all are accepted; a full queue is waited for.
SubmitCost submit_all(engine::Engine& engine) {
  std::vector<std::uint64_t> times, waits;
  engine::JobId last = 0;
  while (times.size() < kJobs) {
    engine::JobRequest request = job_of(1);
    waited_ns = 0;
    is_counting = true;
    const std::uint64_t begin_ns = shm::monotonic_ns();
    const auto submitted = engine.submit(std::move(request));
    const std::uint64_t time_ns = shm::monotonic_ns() - begin_ns;
    is_counting = false;
    if (!submitted) {
      std::this_thread::sleep_for(1ms);
      continue;
    }
    last = *submitted;
    times.push_back(time_ns);
    waits.push_back(waited_ns);
  }
  await_end(engine, last);
  std::ranges::sort(times);
  std::ranges::sort(waits);
  return {in_us(times[kJobs / 2]), in_us(times[kJobs * 99 / 100]), in_us(times.back()),
          in_us(waits[kJobs * 99 / 100]), in_us(waits.back())};
}

void measure(const char* durability, int round) {
  const ScratchFolder scratch;
  std::unique_ptr<engine::JobStore> store;
  engine::EngineOptions options;
  options.configuration.instance = "bench-submit-" + std::to_string(::getpid());
  options.configuration.segment = "/dev/shm/vitrine." + options.configuration.instance;
  options.backend = std::make_shared<TimedBackend>(kTimes);
  if (durability == std::string("disk")) {
    store = engine::JobStore::open(scratch / "jobs.db", {}).value();
    options.store = store.get();
  }
  const auto engine = start_engine(std::move(options));
  await_end(*engine, engine->submit(job_of(1)).value());  // loads the key
  const SubmitCost cost = submit_all(*engine);
  std::printf(
      "{\"round\":%d,\"durability\":\"%s\",\"p50_us\":%.1f,\"p99_us\":%.1f,"
      "\"longest_us\":%.1f,\"wait_p99_us\":%.1f,\"longest_wait_us\":%.1f}\n",
      round, durability, cost.p50_us, cost.p99_us, cost.longest_us, cost.wait_p99_us,
      cost.longest_wait_us);
}

}  // namespace
}  // namespace vitrine::bench

// In the place of the library's own, which does the work: std::mutex calls this one.
extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) {
  using Lock = int (*)(pthread_mutex_t*);
  static const auto lock = reinterpret_cast<Lock>(::dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  using vitrine::bench::is_counting;
  if (!is_counting) return lock(mutex);
  const std::uint64_t begin_ns = vitrine::shm::monotonic_ns();
  const int result = lock(mutex);
  vitrine::bench::waited_ns += vitrine::shm::monotonic_ns() - begin_ns;
  return result;
}

int main(int count, char** words) {
  const int rounds = count > 1 ? std::atoi(words[1]) : 3;
  for (int round = 0; round < rounds; ++round) {
    for (const char* durability : {"none", "disk"}) vitrine::bench::measure(durability, round);
  }
  return 0;
}
