// SPDX-License-Identifier: Apache-2.0
// What a simulation says: waits and misses by priority, and how busy everything was.
#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>

#include "engine/quantities.h"
#include "engine/simulation.h"

namespace vitrine::engine {
namespace {

namespace json = boost::json;
using shm::Priority;

struct PriorityReport {
  std::uint64_t jobs = 0, done = 0, refused = 0, deadlines_missed = 0;
  std::vector<std::uint64_t> waits_ns;  // from submitted to the first partition's start; sorted
  std::vector<std::uint64_t> lives_ns;  // from submitted to done; sorted

  // The smallest value that at least that share of all do not exceed.
  static std::uint64_t quantile(const std::vector<std::uint64_t>& sorted, unsigned percent) {
    if (sorted.empty()) return 0;
    const std::size_t rank = (sorted.size() * percent + 99) / 100;
    return sorted[std::max<std::size_t>(rank, 1) - 1];
  }
};

constexpr Priority kMostUrgentFirst[] = {Priority::kCritical, Priority::kHigh, Priority::kNormal,
                                         Priority::kLow};

PriorityReport report_of(const SimulatedLoad& load, const SimulationResult& result,
                         Priority priority) {
  PriorityReport report;
  for (std::size_t i = 0; i < load.jobs.size(); ++i) {
    const SimulatedJob& job = load.jobs[i];
    if (job.priority != priority) continue;
    ++report.jobs;
    const SimulatedEnd& end = result.jobs[i];
    if (end.state == SimulatedEnd::State::kRefused) {
      ++report.refused;
      continue;
    }
    ++report.done;
    report.waits_ns.push_back(end.started_ns - job.at_ns);
    report.lives_ns.push_back(end.finished_ns - job.at_ns);
    const bool is_late = job.deadline_ns != 0 && report.lives_ns.back() > job.deadline_ns;
    report.deadlines_missed += is_late ? 1 : 0;
  }
  std::sort(report.waits_ns.begin(), report.waits_ns.end());
  std::sort(report.lives_ns.begin(), report.lives_ns.end());
  return report;
}

double share(std::uint64_t busy_ns, std::uint64_t units, std::uint64_t end_ns) {
  if (end_ns == 0) return 0;
  return static_cast<double>(busy_ns) / (static_cast<double>(units) * static_cast<double>(end_ns));
}

double device_share(const SimulatedLoad& load, const SimulationResult& result) {
  return share(result.device_busy_ns, load.devices, result.end_ns);
}

double synthesis_share(const SimulatedLoad& load, const SimulationResult& result) {
  return share(result.synthesis_busy_ns, load.configuration.synthesis_concurrency, result.end_ns);
}

std::string seconds(std::uint64_t duration_ns) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3f s", static_cast<double>(duration_ns) / 1e9);
  return text;
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f %%", share * 100);
  return text;
}

std::string row(std::initializer_list<std::string> cells) {
  std::string line;
  for (const std::string& cell : cells) {
    constexpr std::size_t kWidth = 13;
    line += std::string(cell.size() < kWidth ? kWidth - cell.size() : 1, ' ') + cell;
  }
  return line + "\n";
}

json::object quantiles(const std::vector<std::uint64_t>& sorted) {
  return {{"p50_ns", PriorityReport::quantile(sorted, 50)},
          {"p99_ns", PriorityReport::quantile(sorted, 99)},
          {"max_ns", sorted.empty() ? 0 : sorted.back()}};
}

}  // namespace

std::string simulation_text(const SimulatedLoad& load, const SimulationResult& result) {
  std::string text = row({"priority", "jobs", "done", "refused", "wait p50", "wait p99", "wait max",
                          "done p50", "missed"});
  for (const Priority priority : kMostUrgentFirst) {
    const PriorityReport report = report_of(load, result, priority);
    if (report.jobs == 0) continue;
    text += row({std::string(shm::word(priority)), std::to_string(report.jobs),
                 std::to_string(report.done), std::to_string(report.refused),
                 seconds(PriorityReport::quantile(report.waits_ns, 50)),
                 seconds(PriorityReport::quantile(report.waits_ns, 99)),
                 seconds(report.waits_ns.empty() ? 0 : report.waits_ns.back()),
                 seconds(PriorityReport::quantile(report.lives_ns, 50)),
                 std::to_string(report.deadlines_missed)});
  }
  text += "\nvirtual time " + seconds(result.end_ns) + ", devices busy " +
          percent(device_share(load, result)) + ", synthesis busy " +
          percent(synthesis_share(load, result)) + "\n";
  text += "keys loaded " + std::to_string(result.loads) + " times, evicted " +
          std::to_string(result.evictions) + " times\n";
  text += "peak memory " + size_text(result.peak_bytes) + " of " +
          size_text(*load.configuration.memory_budget_bytes) + "\n";
  text += "refused: " + std::to_string(result.refused_impossible) + " impossible, " +
          std::to_string(result.refused_queue_full) + " with the job queue full\n";
  return text;
}

std::string simulation_json(const SimulatedLoad& load, const SimulationResult& result) {
  json::object priorities;
  for (const Priority priority : kMostUrgentFirst) {
    const PriorityReport report = report_of(load, result, priority);
    priorities[shm::word(priority)] = json::object{{"jobs", report.jobs},
                                                   {"done", report.done},
                                                   {"refused", report.refused},
                                                   {"deadlines_missed", report.deadlines_missed},
                                                   {"wait", quantiles(report.waits_ns)},
                                                   {"life", quantiles(report.lives_ns)}};
  }
  const json::object all{{"priorities", priorities},
                         {"end_ns", result.end_ns},
                         {"device_busy", device_share(load, result)},
                         {"synthesis_busy", synthesis_share(load, result)},
                         {"loads", result.loads},
                         {"evictions", result.evictions},
                         {"put_back", result.put_back},
                         {"peak_bytes", result.peak_bytes},
                         {"budget_bytes", *load.configuration.memory_budget_bytes},
                         {"refused_impossible", result.refused_impossible},
                         {"refused_queue_full", result.refused_queue_full}};
  return json::serialize(all) + "\n";
}

}  // namespace vitrine::engine
