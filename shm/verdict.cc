// SPDX-License-Identifier: Apache-2.0
#include "shm/verdict.h"

#include <sys/stat.h>

#include <algorithm>

#include "shm/clock.h"
#include "shm/time_text.h"

namespace vitrine::shm {
namespace {

// Whether the number of the process means another one to us, or none: as of an engine in a
// container. Of another boot or machine nothing can be said.
bool is_in_other_namespace(const SegmentIdentity& identity) {
  struct stat own {};
  return identity.boot_id == boot_id() && ::stat("/proc/self/ns/pid", &own) == 0 &&
         own.st_ino != identity.pid_namespace_inode;
}

std::string process_text(const SegmentIdentity& identity) {
  const std::string text = "process " + std::to_string(identity.pid);
  return text + (is_in_other_namespace(identity) ? " (of another PID namespace)" : "") + " on " +
         identity.host;
}

std::string plural(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::size_t active_jobs(const Snapshot& snapshot) {
  return static_cast<std::size_t>(std::ranges::count_if(
      snapshot.rows<JobRecord>(), [](const JobRecord& job) { return is_active(job.state); }));
}

std::size_t proving_workers(const Snapshot& snapshot) {
  return static_cast<std::size_t>(std::ranges::count(snapshot.rows<WorkerRecord>(),
                                                     WorkerState::kProving, &WorkerRecord::state));
}

std::string activity_text(const Snapshot& snapshot) {
  return plural(active_jobs(snapshot), "active job") + ", " +
         std::to_string(proving_workers(snapshot)) + " of " +
         plural(snapshot.rows<WorkerRecord>().size(), "worker") + " proving";
}

std::string signal_text(const Snapshot& snapshot) {
  return snapshot.last_signal == 0 ? "" : ", after signal " + std::to_string(snapshot.last_signal);
}

// The work in hand that has been in its stage longest; empty when there is none.
// Its duration is up to `until_age_ns` before the snapshot.
std::string longest_step_text(const Snapshot& snapshot, std::uint64_t until_age_ns) {
  const WorkerRecord* oldest = nullptr;
  for (const WorkerRecord& worker : snapshot.rows<WorkerRecord>()) {
    if (worker.state != WorkerState::kProving || !worker.since.is_set()) continue;
    if (oldest == nullptr || worker.since.ns < oldest->since.ns) oldest = &worker;
  }
  if (oldest == nullptr) return "";
  const std::int64_t until_now_ns = snapshot.age_ns(oldest->since);
  const std::int64_t age_ns =
      std::max<std::int64_t>(until_now_ns - static_cast<std::int64_t>(until_age_ns), 0);
  return "; worker " + std::to_string(oldest->identity.row) + " in " +
         std::string(word(oldest->stage)) + " of job " + std::to_string(oldest->job.value) +
         " for " + duration_text(static_cast<std::uint64_t>(age_ns));
}

// What a signal handler left behind; empty when it left nothing.
std::string last_words_text(const LastWords& words) {
  if (words.written == 0) return "";
  std::string text = ", struck by signal " + std::to_string(words.signal) + " in thread " +
                     std::string(words.thread.view());
  if (words.job.value == 0) return text;
  text += " at " + std::string(word(words.stage)) + " of job " + std::to_string(words.job.value);
  if (words.partition.is_set()) text += " partition " + std::to_string(words.partition.number());
  return text;
}

Verdict judge_gone(const Evidence& evidence) {
  const Snapshot& snapshot = evidence.snapshot;
  const std::string when = duration_text(snapshot.last_sign_age_ns()) + " ago";
  if (snapshot.life == EngineLife::kClosed) {
    return {VerdictWord::kExited, process_text(evidence.identity) + " exited with code " +
                                      std::to_string(snapshot.exit_code) + ", " + when +
                                      signal_text(snapshot)};
  }
  const std::string last_words = last_words_text(snapshot.last_words);
  const std::string end_text = last_words.empty() ? signal_text(snapshot) : last_words;
  return {VerdictWord::kDead,
          process_text(evidence.identity) + " ended without saying so; last sign of life " + when +
              ", then " + std::string(word(snapshot.life)) + end_text + ", " +
              activity_text(snapshot) + longest_step_text(snapshot, snapshot.last_sign_age_ns())};
}

// The thread that has overrun its step's limit by most; null when none has.
const ThreadRecord* overdue_thread(const Snapshot& snapshot) {
  const ThreadRecord* worst = nullptr;
  std::int64_t worst_overrun_ns = 0;
  for (const ThreadRecord& thread : snapshot.rows<ThreadRecord>()) {
    if (thread.limit_ns == 0 || !thread.since.is_set()) continue;
    const std::int64_t age_ns = snapshot.age_ns(thread.since);
    if (age_ns < 0 || static_cast<std::uint64_t>(age_ns) <= thread.limit_ns) continue;
    const std::int64_t overrun_ns = age_ns - static_cast<std::int64_t>(thread.limit_ns);
    if (worst != nullptr && overrun_ns <= worst_overrun_ns) continue;
    worst = &thread;
    worst_overrun_ns = overrun_ns;
  }
  return worst;
}

Verdict judge_overdue(const ThreadRecord& thread, const Snapshot& snapshot) {
  std::string reason = "thread " + std::string(thread.name.view()) + " has been in step " +
                       std::string(thread.step.view()) + " for " +
                       duration_text(static_cast<std::uint64_t>(snapshot.age_ns(thread.since))) +
                       ", its limit is " + duration_text(thread.limit_ns);
  if (thread.job.value != 0) reason += "; job " + std::to_string(thread.job.value);
  if (thread.partition.is_set()) {
    reason += " partition " + std::to_string(thread.partition.number());
  }
  return {VerdictWord::kHung, reason};
}

Verdict judge_still(const Evidence& evidence) {
  return {VerdictWord::kHung,
          process_text(evidence.identity) + " is there, but its heartbeat has stood at " +
              std::to_string(evidence.snapshot.heartbeat) + " for " +
              duration_text(
                  std::max(evidence.heartbeat.stood_ns(), evidence.snapshot.heartbeat_age_ns)) +
              ", promised every " +
              std::to_string(evidence.snapshot.heartbeat_interval_ns / 1'000'000) + " ms" +
              longest_step_text(evidence.snapshot, 0)};
}

Verdict judge_work(const Snapshot& snapshot) {
  if (proving_workers(snapshot) > 0 || active_jobs(snapshot) > 0) {
    return {VerdictWord::kBusy, activity_text(snapshot)};
  }
  return {VerdictWord::kIdle, snapshot.engine().paused != 0 ? "paused" : "no work"};
}

}  // namespace

Verdict judge(const Evidence& evidence) {
  const Snapshot& snapshot = evidence.snapshot;
  if (snapshot.life == EngineLife::kClosed || !evidence.liveness.lock_held) {
    return judge_gone(evidence);
  }
  if (evidence.heartbeat.stands()) return judge_still(evidence);
  if (const ThreadRecord* thread = overdue_thread(snapshot)) {
    return judge_overdue(*thread, snapshot);
  }
  if (snapshot.life == EngineLife::kStarting || snapshot.life == EngineLife::kUnknown) {
    return {VerdictWord::kStarting, process_text(evidence.identity) + " is not ready yet"};
  }
  if (snapshot.life == EngineLife::kDraining) {
    return {VerdictWord::kDraining, "finishes what it has, takes no more: " +
                                        activity_text(snapshot) + signal_text(snapshot)};
  }
  if (!evidence.liveness.name_linked) {
    return {VerdictWord::kDegraded,
            evidence.identity.path.string() + " no longer leads to it; new readers cannot find it"};
  }
  const std::string_view reason = snapshot.engine().degraded_reason.view();
  if (snapshot.life == EngineLife::kDegraded || !reason.empty()) {
    return {VerdictWord::kDegraded, reason.empty() ? "gives no reason" : std::string(reason)};
  }
  return judge_work(snapshot);
}

int exit_code_of(VerdictWord word) {
  switch (word) {
    case VerdictWord::kUnreadable:
      return 5;
    case VerdictWord::kExited:
    case VerdictWord::kDead:
      return 4;
    case VerdictWord::kHung:
      return 6;
    case VerdictWord::kDraining:
    case VerdictWord::kDegraded:
      return 1;
    case VerdictWord::kStarting:
    case VerdictWord::kBusy:
    case VerdictWord::kIdle:
      return 0;
  }
  return 5;
}

}  // namespace vitrine::shm
