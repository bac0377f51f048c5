// SPDX-License-Identifier: Apache-2.0
// A snapshot of everything, while an engine changes a job, a partition, a worker and a total and
// tells an event, so many times a second.
//
//   vitrine-bench-snapshot ROUNDS
//
// Prints one JSON object per measurement. The writer beside is a thread on the other core. Jobs
// have 16 partitions each as long as the table of partitions holds them: the 512 jobs have 8.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/bench/measured_cost.h"
#include "tests/bench/status_keepers.h"

namespace vitrine::bench {
namespace {

constexpr Scale kScales[] = {{16, 16}, {64, 16}, {256, 16}, {512, 8}};
constexpr std::uint64_t kRates[] = {0, 1'000, 10'000, 80'000};  // transactions a second
constexpr Plan kPlan{.windows = 100, .limit_ns = 400'000'000, .window_ns = 1'000'000, .batch = 0};

// Makes transactions at a rate. What another program's turn on the core held up is not made up
// for in a burst that no engine would make.
class PacedWriter {
 public:
  PacedWriter(SegmentKeeper& keeper, std::uint64_t per_second)
      : keeper_(keeper), pace_ns_(1'000'000'000 / per_second) {}

  void operator()() {
    constexpr std::uint64_t kLateNs = 1'000'000;
    const std::uint64_t now_ns = shm::monotonic_ns();
    if (now_ns < due_ns_) return;
    due_ns_ = now_ns > due_ns_ + kLateNs ? now_ns + pace_ns_ : due_ns_ + pace_ns_;
    keeper_.update_with_total();
  }

 private:
  SegmentKeeper& keeper_;
  std::uint64_t pace_ns_;
  std::uint64_t due_ns_ = 0;
};

struct Outcomes {
  std::uint64_t taken = 0;
  std::uint64_t consistent = 0;
  std::uint64_t tries = 0;
  std::uint64_t first_commit = 0;
  std::uint64_t last_commit = 0;

  void add(const shm::Snapshot& snapshot) {
    if (taken == 0) first_commit = snapshot.commit;
    last_commit = snapshot.commit;
    ++taken;
    consistent += snapshot.consistent;
    tries += snapshot.tries;
  }
};

class SnapshotBench {
 public:
  explicit SnapshotBench(int round) : round_(round) {}

  void run(const Scale& scale) {
    SegmentKeeper keeper(scale);
    SegmentKeeper::Poller poller(keeper);
    for (const std::uint64_t rate : kRates) {
      std::optional<Companion> writer;
      if (rate > 0) writer.emplace(PacedWriter(keeper, rate));
      Outcomes outcomes;
      const std::uint64_t begin_ns = shm::monotonic_ns();
      const Cost cost = measure(
          clock_, kPlan,
          [&] {
            poller.poll();
            outcomes.add(poller.last());
          },
          writer ? &*writer : nullptr);
      const double seconds = static_cast<double>(shm::monotonic_ns() - begin_ns) / 1e9;
      const double made = static_cast<double>(outcomes.last_commit - outcomes.first_commit);
      const double taken = static_cast<double>(outcomes.taken);
      const boost::json::object line{
          {"group", "snapshot"},
          {"jobs", scale.jobs},
          {"partitions", scale.partitions},
          {"rate", rate},
          {"round", round_},
          {"cost", cost.to_json()},
          {"transactions_per_second", made / seconds},
          {"tries", static_cast<double>(outcomes.tries) / taken},
          {"consistent", static_cast<double>(outcomes.consistent) / taken}};
      std::puts(boost::json::serialize(line).c_str());
    }
  }

 private:
  TickClock clock_;
  int round_;
};

}  // namespace
}  // namespace vitrine::bench

int main(int argc, char** argv) {
  const int rounds = argc == 2 ? std::atoi(argv[1]) : 0;
  if (rounds <= 0) {
    std::fprintf(stderr, "usage: vitrine-bench-snapshot ROUNDS\n");
    return 2;
  }
  for (int round = 0; round < rounds; ++round) {
    vitrine::bench::SnapshotBench bench(round);
    for (const auto& scale : vitrine::bench::kScales) bench.run(scale);
  }
  return 0;
}
