// SPDX-License-Identifier: Apache-2.0
// The ledger's jobs: queued -> running -> assembling -> done; from each of them to failed,
// cancelled and lost, from queued to refused.
#include <algorithm>

#include "shm/job_ledger_writer.h"
#include "shm/ledger_rules_writer.h"

namespace vitrine::shm {
namespace {

std::uint64_t& count_of(CountersRecord& counters, JobState state) {
  switch (state) {
    case JobState::kRunning:
      return counters.running;
    case JobState::kAssembling:
      return counters.assembling;
    case JobState::kDone:
      return counters.done;
    case JobState::kFailed:
      return counters.failed;
    case JobState::kCancelled:
      return counters.cancelled;
    case JobState::kRefused:
      return counters.refused;
    case JobState::kLost:
      return counters.lost;
    default:
      return counters.queued;
  }
}

EventType event_of(JobState final_state) {
  switch (final_state) {
    case JobState::kDone:
      return EventType::kFinish;
    case JobState::kCancelled:
      return EventType::kCancel;
    case JobState::kRefused:
      return EventType::kRefuse;
    default:
      return EventType::kFail;
  }
}

}  // namespace

LedgerResult<std::uint32_t> JobLedger::job_row(std::uint64_t job) const {
  const auto found = job_rows_.find(job);
  if (found == job_rows_.end()) return ledger_error(LedgerCode::kNoSuchItem, "no " + text_of(job));
  return found->second;
}

bool JobLedger::has_room(std::uint32_t partitions) const {
  std::size_t free_partitions = free_partitions_.size();
  for (const std::uint32_t row : finished_jobs_)
    free_partitions += books_[row].partition_rows.size();
  return free_partitions >= partitions && free_jobs_.size() + finished_jobs_.size() > 0;
}

void JobLedger::recycle_oldest_job(const Change& change) {
  const std::uint32_t row = finished_jobs_.front();
  finished_jobs_.erase(finished_jobs_.begin());
  auto& partitions = books_[row].partition_rows;
  for (const std::uint32_t partition : partitions) {
    change.rows.clear<PartitionRecord>(partition);
    free_partitions_.push_back(partition);
  }
  job_rows_.erase(change.rows.peek<JobRecord>(row).job.value);
  change.rows.clear<JobRecord>(row);
  free_jobs_.push_back(row);
  change.rows.edit<EngineRecord>().recycled_rows += 1 + partitions.size();
  partitions.clear();
}

std::uint32_t JobLedger::counters_row_of(const Change& change, std::string_view proof_kind) {
  const Text<16> kind(proof_kind);
  const std::uint32_t last = change.rows.capacity<CountersRecord>() - 1;
  for (std::uint32_t row = 0; row < kinds_; ++row) {
    if (change.rows.peek<CountersRecord>(row).proof_kind.view() == kind.view()) return row;
  }
  // Kinds for which no row is left are counted together, in the last one.
  if (kinds_ == last || kind.view() == "other") {
    if (change.rows.peek<CountersRecord>(last).proof_kind.view().empty()) {
      change.rows.recycle<CountersRecord>(last).proof_kind = std::string_view("other");
    }
    return last;
  }
  change.rows.recycle<CountersRecord>(kinds_).proof_kind = kind;
  return kinds_++;
}

CountersRecord& JobLedger::counters_of(const Change& change, const JobRecord& job) {
  return change.rows.edit<CountersRecord>(books_[job.identity.row].counters_row);
}

void JobLedger::append(const Change& change, const JobRecord& job, EventType type,
                       std::uint64_t argument) {
  Event event;
  event.job = job.job;
  event.attempt = job.attempt;
  event.argument = argument;
  append(change, event, type);
}

void JobLedger::move_job(const Change& change, JobRecord& job, JobState to) {
  CountersRecord& counters = counters_of(change, job);
  --count_of(counters, job.state);
  ++count_of(counters, to);
  job.state = to;
  if (to != JobState::kQueued) {
    set_wait(job, {}, change.now);
    job.wait_available_bytes = 0;
  }
}

void JobLedger::take_rows(const Change& change, std::uint64_t id, const JobTicket& ticket) {
  while (free_jobs_.empty() || free_partitions_.size() < ticket.partitions) {
    recycle_oldest_job(change);
  }
  const std::uint32_t row = free_jobs_.back();
  free_jobs_.pop_back();
  job_rows_[id] = row;
  jobs_in_hand_.push_back(row);
  JobBook& book = books_[row];
  book.counters_row = counters_row_of(change, ticket.proof_kind);
  change.rows.recycle<JobRecord>(row);
  for (std::uint32_t number = 0; number < ticket.partitions; ++number) {
    const std::uint32_t partition_row = free_partitions_.back();
    free_partitions_.pop_back();
    book.partition_rows.push_back(partition_row);
    stage_since_ns_[partition_row] = change.now.ns;
    PartitionRecord& partition = change.rows.recycle<PartitionRecord>(partition_row);
    partition.job = {id};
    partition.job_row = Index::of(row);
    partition.partition = number;
    partition.stage = PartitionStage::kPending;
    partition.attempt = 1;
    partition.created = change.now;
    set_wait(partition, {.reason = WaitReason::kCpu}, change.now);
  }
}

LedgerResult<std::uint64_t> JobLedger::submit(const JobTicket& ticket) {
  return apply([&](const Change& open) -> LedgerResult<std::uint64_t> {
    if (ticket.partitions == 0) {
      return ledger_error(LedgerCode::kBadArgument, "a job has one partition at least");
    }
    std::uint64_t id = ticket.id;
    if (id == 0) {
      id = last_id_ + 1;
      while (job_rows_.contains(id)) ++id;
    }
    if (job_rows_.contains(id))
      return ledger_error(LedgerCode::kExists, text_of(id) + " is there already");
    if (!has_room(ticket.partitions)) {
      ++open.rows.edit<EngineRecord>().refused_for_capacity;
      return ledger_error(LedgerCode::kFull, "no rows are free for " + text_of(id) + " and its " +
                                                 std::to_string(ticket.partitions) + " partitions");
    }
    if (ticket.id == 0) last_id_ = id;
    take_rows(open, id, ticket);
    JobRecord& job = open.rows.edit<JobRecord>(job_rows_[id]);
    job.job = {id};
    job.state = JobState::kQueued;
    job.priority = ticket.priority;
    job.circuit = ticket.circuit;
    job.proof_kind = ticket.proof_kind;
    job.request = ticket.request;
    job.attempt = 1;
    job.partitions = job.partitions_pending = ticket.partitions;
    job.submitted = open.now;
    if (ticket.deadline_in_ns != 0) job.deadline = {open.now.ns + ticket.deadline_in_ns};
    set_wait(job, {.reason = WaitReason::kCpu}, open.now);
    CountersRecord& counters = counters_of(open, job);
    ++counters.submitted;
    ++counters.queued;
    append(open, job, EventType::kSubmit, ticket.partitions);
    return id;
  });
}

LedgerResult<void> JobLedger::wait(std::uint64_t id, const Wait& wait) {
  return apply([&](const Change& open) -> LedgerResult<void> {
    const auto row = job_row(id);
    if (!row) return row.error();
    if (const auto fault = fault_of(wait)) return *fault;
    if (open.rows.peek<JobRecord>(*row).state != JobState::kQueued) {
      return ledger_error(LedgerCode::kWrongOrder, text_of(id) + " does not wait any more");
    }
    JobRecord& job = open.rows.edit<JobRecord>(*row);
    if (job.wait_reason != wait.reason) {
      set_wait(job, wait, open.now);
      append(open, job, EventType::kWait, static_cast<std::uint64_t>(wait.reason));
    }
    job.wait_needs_bytes = wait.needs_bytes;
    job.wait_available_bytes = wait.available_bytes;
    return {};
  });
}

LedgerResult<void> JobLedger::admit(std::uint64_t id) {
  return apply([&](const Change& open) -> LedgerResult<void> {
    const auto row = job_row(id);
    if (!row) return row.error();
    if (open.rows.peek<JobRecord>(*row).state != JobState::kQueued) {
      return ledger_error(LedgerCode::kWrongOrder, text_of(id) + " is admitted already");
    }
    JobRecord& job = open.rows.edit<JobRecord>(*row);
    move_job(open, job, JobState::kRunning);
    job.admitted = open.now;
    append(open, job, EventType::kAdmit, 0);
    return {};
  });
}

void JobLedger::end_job(const Change& change, std::uint32_t row, const JobEnd& end) {
  JobRecord& job = change.rows.edit<JobRecord>(row);
  for (const std::uint32_t partition : books_[row].partition_rows) {
    if (is_final(change.rows.peek<PartitionRecord>(partition).stage)) continue;
    end_partition(change, partition, PartitionStage::kCancelled, end.failure_class);
  }
  move_job(change, job, end.state);
  job.finished = change.now;
  if (job.deadline.is_set() && job.finished.ns > job.deadline.ns) {
    ++counters_of(change, job).deadlines_missed;
  }
  if (end.state != JobState::kDone) {
    // What failed has a cause, whatever the caller left out (invariant I3).
    job.failure_class =
        end.failure_class == FailureClass::kNone ? FailureClass::kInternal : end.failure_class;
    job.failure = end.text.empty() ? word(end.state) : end.text;
  }
  if (end.state == JobState::kFailed || end.state == JobState::kLost) {
    count_error(change, job.failure_class, job.failure.view(), job.job.value);
  }
  append(change, job, event_of(end.state),
         end.state == JobState::kRefused ? job.partitions
                                         : static_cast<std::uint64_t>(job.failure_class));
  std::erase(jobs_in_hand_, row);
  finished_jobs_.push_back(row);
}

LedgerResult<void> JobLedger::end(std::uint64_t id, const JobEnd& end) {
  return apply([&](const Change& open) -> LedgerResult<void> {
    const auto row = job_row(id);
    if (!row) return row.error();
    const JobRecord& job = open.rows.peek<JobRecord>(*row);
    if (is_final(job.state)) {
      return ledger_error(LedgerCode::kWrongOrder,
                          text_of(id) + " is " + std::string(word(job.state)) + " already");
    }
    if (end.state == JobState::kDone && job.state != JobState::kAssembling) {
      return ledger_error(LedgerCode::kWrongOrder,
                          text_of(id) + " has partitions that are not done");
    }
    if (end.state == JobState::kRefused && job.state != JobState::kQueued) {
      return ledger_error(LedgerCode::kWrongOrder, text_of(id) + " is admitted already");
    }
    end_job(open, *row, end);
    return {};
  });
}

}  // namespace vitrine::shm
