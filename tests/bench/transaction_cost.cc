// SPDX-License-Identifier: Apache-2.0
// A whole change of status: a transaction under the engine's kind of mutex, the same change of a
// tracker made the usual way, and a copy of as many bytes.
//
//   vitrine-bench-transaction ROUNDS
//
// Prints one JSON object per measurement: group `transaction`, flat out over 64 jobs of 16
// partitions, and group `tracker`, 10,000 changes a second over 2,000 jobs of 2 partitions. The
// poller beside is a thread on the other core that takes whole snapshots without a pause.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/bench/measured_cost.h"
#include "tests/bench/status_keepers.h"

namespace vitrine::bench {
namespace {

struct Setting {
  const char* group;
  Scale scale;
  Plan plan;
};

constexpr Plan kFlatOut{.windows = 150, .limit_ns = 500'000'000, .batch = 64};
constexpr Plan kPaced{.windows = 200,
                      .limit_ns = 800'000'000,
                      .window_ns = 1'000'000,
                      .batch = 0,
                      .pace_ns = 100'000};
// Waiting for a lock takes longer than any batch should: changes are timed one by one.
constexpr Plan kFlatOutSlow{.windows = 150, .limit_ns = 500'000'000, .batch = 0};

constexpr Setting kTransaction{"transaction", {64, 16}, kFlatOut};
constexpr Setting kTracker{"tracker", {2000, 2}, kPaced};

class TransactionBench {
 public:
  explicit TransactionBench(int round) : round_(round) {}

  template <class Keeper>
  void run(const Setting& setting) {
    Keeper keeper(setting.scale);
    const auto update = [&keeper] { keeper.update(); };
    report<Keeper>(setting, measure(clock_, setting.plan, update), {});
    if constexpr (!std::is_same_v<Keeper, CopyKeeper>) {
      const Companion beside(
          [poller = typename Keeper::Poller(keeper)]() mutable { poller.poll(); });
      const std::uint64_t before = beside.rounds();
      const std::uint64_t begin_ns = shm::monotonic_ns();
      const Plan& plan = setting.plan.pace_ns > 0 ? setting.plan : kFlatOutSlow;
      const Cost cost = measure(clock_, plan, update, &beside);
      const double seconds = static_cast<double>(shm::monotonic_ns() - begin_ns) / 1e9;
      report<Keeper>(setting, cost, static_cast<double>(beside.rounds() - before) / seconds);
    }
  }

 private:
  template <class Keeper>
  void report(const Setting& setting, const Cost& cost, std::optional<double> polls_per_second) {
    boost::json::object line{{"group", setting.group}, {"contender", Keeper::kName},
                             {"bytes", kStepBytes},    {"beside", polls_per_second ? 1 : 0},
                             {"round", round_},        {"cost", cost.to_json()}};
    if (polls_per_second) line["polls_per_second"] = *polls_per_second;
    std::puts(boost::json::serialize(line).c_str());
  }

  TickClock clock_;
  int round_;
};

}  // namespace
}  // namespace vitrine::bench

int main(int argc, char** argv) {
  using namespace vitrine::bench;
  const int rounds = argc == 2 ? std::atoi(argv[1]) : 0;
  if (rounds <= 0) {
    std::fprintf(stderr, "usage: vitrine-bench-transaction ROUNDS\n");
    return 2;
  }
  for (int round = 0; round < rounds; ++round) {
    TransactionBench bench(round);
    bench.run<CopyKeeper>(kTransaction);
    bench.run<SegmentKeeper>(kTransaction);
    bench.run<TrackerKeeper>(kTransaction);
    bench.run<SegmentKeeper>(kTracker);
    bench.run<TrackerKeeper>(kTracker);
  }
  return 0;
}
