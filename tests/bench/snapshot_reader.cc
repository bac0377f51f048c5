// SPDX-License-Identifier: Apache-2.0
// Takes snapshots of a running engine, asserts the invariants on every one, and reports.
//
//   vitrine-snapshot-reader SEGMENT COUNT INTERVAL_US [unchecked]
//
// With `unchecked` it only looks, as a program that polls does.
// Prints one JSON object and exits 0 when every consistent snapshot kept every invariant, 1 when
// one did not (the first violations go to stderr), 2 on wrong use, 3 when it cannot attach. Ends
// early, with what it has, when the engine closes its segment.
#include <time.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "shm/clock.h"
#include "shm/invariants.h"
#include "shm/segment_reader.h"

namespace {

using vitrine::shm::Snapshot;

constexpr std::size_t kViolationsShown = 20;

struct Tally {
  bool is_checking = true;
  std::uint64_t taken = 0;
  std::uint64_t consistent = 0;
  std::uint64_t retried = 0;
  std::uint64_t distinct_commits = 0;
  std::vector<std::uint64_t> costs_ns;
  std::vector<std::string> violations;

  void add(const Snapshot& snapshot, const Snapshot& previous, std::uint64_t cost_ns) {
    ++taken;
    costs_ns.push_back(cost_ns);
    retried += snapshot.tries > 1;
    distinct_commits += snapshot.commit != previous.commit;
    if (!snapshot.consistent) return;
    ++consistent;
    if (!is_checking) return;
    auto found = vitrine::shm::check_invariants(snapshot, taken > 1 ? &previous : nullptr);
    violations.insert(violations.end(), found.begin(), found.end());
  }

  std::uint64_t quantile_ns(double share) const {
    if (costs_ns.empty()) return 0;
    auto sorted = costs_ns;
    std::sort(sorted.begin(), sorted.end());
    return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
  }
};

bool parse_number(const char* text, std::uint64_t& number) {
  const char* end = text + std::strlen(text);
  const auto parsed = std::from_chars(text, end, number);
  return parsed.ec == std::errc() && parsed.ptr == end;
}

void sleep_us(std::uint64_t microseconds) {
  const timespec pause{static_cast<time_t>(microseconds / 1'000'000),
                       static_cast<long>(microseconds % 1'000'000 * 1000)};
  ::nanosleep(&pause, nullptr);
}

int report(const Tally& tally) {
  const boost::json::object summary{
      {"snapshots", tally.taken},
      {"consistent", tally.consistent},
      {"retried", tally.retried},
      {"distinct_commits", tally.distinct_commits},
      {"violations", tally.violations.size()},
      {"p50_us", static_cast<double>(tally.quantile_ns(0.5)) / 1000},
      {"p99_us", static_cast<double>(tally.quantile_ns(0.99)) / 1000}};
  std::puts(boost::json::serialize(summary).c_str());
  const std::size_t shown = std::min(tally.violations.size(), kViolationsShown);
  for (std::size_t i = 0; i < shown; ++i) std::fprintf(stderr, "%s\n", tally.violations[i].c_str());
  return tally.violations.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t count = 0;
  std::uint64_t interval_us = 0;
  const bool is_checking = argc == 4;
  const bool is_poller = argc == 5 && std::strcmp(argv[4], "unchecked") == 0;
  if ((!is_checking && !is_poller) || !parse_number(argv[2], count) ||
      !parse_number(argv[3], interval_us)) {
    std::fprintf(stderr, "usage: vitrine-snapshot-reader SEGMENT COUNT INTERVAL_US [unchecked]\n");
    return 2;
  }
  auto reader = vitrine::shm::SegmentReader::attach(argv[1]);
  if (!reader) {
    std::fprintf(stderr, "%s\n", reader.error().text.c_str());
    return 3;
  }
  Tally tally;
  tally.is_checking = is_checking;
  Snapshot snapshot;
  Snapshot previous;
  while (tally.taken < count) {
    const std::uint64_t begin_ns = vitrine::shm::monotonic_ns();
    if (const auto taken = reader->snapshot(snapshot); !taken) {
      std::fprintf(stderr, "%s\n", taken.error().text.c_str());
      return 3;
    }
    tally.add(snapshot, previous, vitrine::shm::monotonic_ns() - begin_ns);
    std::swap(snapshot, previous);
    if (previous.life == vitrine::shm::EngineLife::kClosed) break;
    sleep_us(interval_us);
  }
  return report(tally);
}
