// SPDX-License-Identifier: Apache-2.0
#include "tools/health_check.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "shm/printable_text.h"

namespace vitrine::tools {
namespace {

using Word = shm::VerdictWord;

std::string safe(std::string_view text) { return shm::printable_text(text, shm::Charset::kUtf8); }

std::string reason_of(const shm::Observation& observation) {
  const bool is_unread = !observation.snapshot && observation.error;
  return safe(is_unread ? observation.error->text : observation.verdict.reason);
}

// Empty when nothing could ever be read.
std::string instance_of(const shm::Observation& observation) {
  return safe(observation.identity.instance);
}

std::string_view state_word(ExitCode code) {
  constexpr std::array<std::string_view, 4> kWords = {"ok", "warning", "critical", "unknown"};
  return kWords.at(static_cast<std::size_t>(code));
}

std::string_view answer_word(const shm::Observation& observation, HealthQuestion question) {
  switch (question) {
    case HealthQuestion::kLive:
      return is_live(observation) ? "live" : "not live";
    case HealthQuestion::kReady:
      return is_ready(observation) ? "ready" : "not ready";
    case HealthQuestion::kState:
      break;
  }
  return state_word(health_code(observation, question));
}

std::string verdict_text(const shm::Observation& observation) {
  const std::string instance = instance_of(observation);
  return (instance.empty() ? "" : instance + " is ") +
         std::string(shm::word(observation.verdict.word)) + ": " + reason_of(observation);
}

struct JobCounts {
  std::size_t active = 0;
  std::size_t waiting = 0;
};

JobCounts count_jobs(const shm::Snapshot& snapshot) {
  JobCounts counts;
  for (const shm::JobRecord& job : snapshot.rows<shm::JobRecord>()) {
    counts.active += shm::is_active(job.state) ? 1 : 0;
    counts.waiting += shm::is_waiting(job.state) ? 1 : 0;
  }
  return counts;
}

std::string seconds_text(std::uint64_t duration_ns) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3f", static_cast<double>(duration_ns) / 1e9);
  return text.data();
}

// label=value[unit];warn;crit;min;max, where only what is known stands; all are counts from zero.
std::string perfdata(std::string_view label, const std::string& value, std::uint64_t max) {
  return " " + std::string(label) + "=" + value + ";;;0;" + (max > 0 ? std::to_string(max) : "");
}

std::string perfdata_of(const shm::Snapshot& snapshot) {
  const JobCounts jobs = count_jobs(snapshot);
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
  for (const shm::CountersRecord& counters : snapshot.rows<shm::CountersRecord>()) {
    done += counters.done;
    failed += counters.failed;
  }
  const auto& workers = snapshot.rows<shm::WorkerRecord>();
  const auto proving =
      std::ranges::count(workers, shm::WorkerState::kProving, &shm::WorkerRecord::state);
  const std::uint64_t limit_ns = 3 * shm::credible_interval_ns(snapshot);
  return " heartbeat_age=" + seconds_text(snapshot.heartbeat_age_ns) + "s;;" +
         seconds_text(limit_ns) + ";0;" + perfdata("jobs_active", std::to_string(jobs.active), 0) +
         perfdata("jobs_waiting", std::to_string(jobs.waiting),
                  snapshot.engine().job_queue_capacity) +
         perfdata("workers_proving", std::to_string(proving), workers.size()) +
         perfdata("memory_reserved", std::to_string(snapshot.memory().reserved_bytes) + "B",
                  snapshot.memory().budget_bytes) +
         perfdata("jobs_done", std::to_string(done) + "c", 0) +
         perfdata("jobs_failed", std::to_string(failed) + "c", 0);
}

}  // namespace

bool is_live(const shm::Observation& observation) {
  return shm::is_alive(observation.verdict.word);
}

bool is_ready(const shm::Observation& observation) {
  return shm::is_ready(observation.verdict.word);
}

ExitCode health_code(const shm::Observation& observation, HealthQuestion question) {
  if (question == HealthQuestion::kLive) {
    return is_live(observation) ? ExitCode::kOk : ExitCode::kFailed;
  }
  if (question == HealthQuestion::kReady) {
    return is_ready(observation) ? ExitCode::kOk : ExitCode::kFailed;
  }
  switch (observation.verdict.word) {
    case Word::kStarting:
    case Word::kBusy:
    case Word::kIdle:
      return ExitCode::kOk;
    case Word::kDraining:
    case Word::kDegraded:
      return ExitCode::kDegraded;
    case Word::kExited:
    case Word::kDead:
    case Word::kHung:
      return ExitCode::kCheckCritical;
    case Word::kUnreadable:
      break;
  }
  return ExitCode::kCheckUnknown;
}

std::string health_plain(const shm::Observation& observation, HealthQuestion question) {
  return std::string(answer_word(observation, question)) + ": " + verdict_text(observation) + "\n";
}

std::string health_nagios(const shm::Observation& observation, HealthQuestion question) {
  constexpr std::array<std::string_view, 4> kWords = {"OK", "WARNING", "CRITICAL", "UNKNOWN"};
  const auto code = static_cast<std::size_t>(health_code(observation, question));
  // A probe's "no" is as bad as it gets.
  const bool is_probe = question != HealthQuestion::kState;
  std::string text = (is_probe ? std::string(answer_word(observation, question)) + "; " : "") +
                     verdict_text(observation);
  std::replace(text.begin(), text.end(), '|', '/');  // begins the performance data
  std::string line = "VITRINE " + std::string(kWords.at(is_probe ? 2 * code : code)) + " - " + text;
  if (observation.snapshot) line += " |" + perfdata_of(*observation.snapshot);
  return line + "\n";
}

boost::json::object health_json(const shm::Observation& observation, HealthQuestion question) {
  const ExitCode code = health_code(observation, question);
  const ExitCode state = health_code(observation, HealthQuestion::kState);
  boost::json::object out;
  out["schema"] = "vitrine.check.1";
  const std::string instance = instance_of(observation);
  out["instance"] = instance.empty() ? boost::json::value(nullptr) : boost::json::value(instance);
  out["exit_code"] = static_cast<int>(code);
  out["state"] = state_word(state);
  out["live"] = is_live(observation);
  out["ready"] = is_ready(observation);
  out["verdict"] = shm::word(observation.verdict.word);
  out["reason"] = reason_of(observation);
  out["heartbeat_age_seconds"] = nullptr;
  if (observation.snapshot) {
    out["heartbeat_age_seconds"] =
        static_cast<double>(observation.snapshot->heartbeat_age_ns) / 1e9;
  }
  return out;
}

}  // namespace vitrine::tools
