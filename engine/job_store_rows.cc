// SPDX-License-Identifier: Apache-2.0
#include "engine/job_store_rows.h"

#include "engine/short_text.h"
#include "shm/clock.h"

namespace vitrine::engine {
namespace {

// Adds to an instant of this boot: the time of day.
std::int64_t unix_minus_monotonic_ns() {
  return shm::unix_ns() - static_cast<std::int64_t>(shm::monotonic_ns());
}

void bind_time(SqliteStatement& statement, int parameter, shm::Instant instant) {
  if (!instant.is_set()) return statement.bind_null(parameter);
  statement.bind(parameter, static_cast<std::int64_t>(instant.ns) + unix_minus_monotonic_ns());
}

// Nothing of an instant that is shown as that of the boot, since it was before it.
void bind_time_of_this_boot(SqliteStatement& statement, int parameter, shm::Instant instant) {
  bind_time(statement, parameter, instant.ns > 1 ? instant : shm::Instant());
}

shm::Instant time_of(const SqliteStatement& statement, int column) {
  const std::int64_t unix_ns = statement.integer(column);
  if (unix_ns == 0) return {};
  return {static_cast<std::uint64_t>(unix_ns - unix_minus_monotonic_ns())};
}

std::int64_t number(auto word) { return static_cast<std::int64_t>(word); }

std::uint32_t small(const SqliteStatement& statement, int column) {
  return static_cast<std::uint32_t>(statement.integer(column));
}

constexpr const char* kJobColumns =
    "SELECT id, state, priority, circuit, proof_kind, request, attempt, partitions,"
    " partitions_done, partitions_failed, partitions_cancelled, submitted, admitted, started,"
    " finished, deadline, failure_class, failure_stage, failure_partition, failure_device, failure,"
    " at_deadline, coalesce((SELECT deaths FROM run WHERE run.job=job.id), 0) FROM job WHERE ";

StoredJob read_job(const SqliteStatement& row) {
  StoredJob job;
  shm::JobRecord& record = job.record;
  record.job = {static_cast<JobId>(row.integer(0))};
  record.state = static_cast<shm::JobState>(row.integer(1));
  record.priority = static_cast<shm::Priority>(row.integer(2));
  record.circuit = std::string_view(row.text(3));
  record.proof_kind = std::string_view(row.text(4));
  record.request = std::string_view(row.text(5));
  record.attempt = small(row, 6);
  record.partitions = small(row, 7);
  record.partitions_done = small(row, 8);
  record.partitions_failed = small(row, 9);
  record.partitions_cancelled = small(row, 10);
  record.submitted = time_of(row, 11);
  record.admitted = time_of(row, 12);
  record.started = time_of(row, 13);
  record.finished = time_of(row, 14);
  record.deadline = time_of(row, 15);
  record.failure_class = static_cast<shm::FailureClass>(row.integer(16));
  record.failure_stage = static_cast<shm::PartitionStage>(row.integer(17));
  record.failure_partition = {small(row, 18)};
  record.failure_device = {small(row, 19)};
  job.failure = row.text(20);
  shorten(record.failure, job.failure);
  job.at_deadline = static_cast<Job::AtDeadline>(row.integer(21));
  job.deaths = small(row, 22);
  return job;
}

Result<void> insert_witnesses(SqliteDatabase& database, const StoredJob& job) {
  auto insert = database.prepare("INSERT INTO witness VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)");
  if (!insert) return insert.error();
  for (std::size_t partition = 0; partition < job.witnesses.size(); ++partition) {
    const StoredWitness& witness = job.witnesses[partition];
    insert->bind(1, number(job.record.job.value));
    insert->bind(2, number(partition));
    insert->bind(3, number(witness.owner));
    insert->bind(4, witness.path);
    insert->bind(5, witness.name);
    insert->bind(6, number(witness.bytes));
    insert->bind(7, number(witness.kind));
    if (auto inserted = insert->run(); !inserted) return inserted;
  }
  return {};
}

Result<void> insert_proofs(SqliteDatabase& database, const JobEnd& end) {
  auto insert = database.prepare("INSERT INTO proof VALUES(?1, ?2, ?3, ?4)");
  if (!insert) return insert.error();
  for (std::size_t partition = 0; partition < end.proofs.size(); ++partition) {
    insert->bind(1, number(end.record.job.value));
    insert->bind(2, number(partition));
    insert->bind(3, end.proofs[partition]->proof);
    insert->bind(4, end.proofs[partition]->inputs);
    if (auto inserted = insert->run(); !inserted) return inserted;
  }
  return {};
}

std::int64_t result_bytes(const JobEnd& end) {
  std::size_t bytes = 0;
  for (const auto& proof : end.proofs) bytes += proof->proof.size() + proof->inputs.size();
  return number(bytes);
}

Result<void> remove_rows(SqliteDatabase& database, const char* sql, JobId id) {
  auto statement = database.prepare(sql);
  if (!statement) return statement.error();
  statement->bind(1, number(id));
  return statement->run();
}

struct KeptResults {
  std::uint64_t jobs = 0, bytes = 0;
};

Result<KeptResults> kept_results(SqliteDatabase& database) {
  auto query = database.prepare(
      "SELECT count(*), coalesce(sum(result_bytes), 0) FROM job WHERE finished IS NOT NULL");
  if (!query) return query.error();
  const auto row = query->step();
  if (!row) return row.error();
  return KeptResults{static_cast<std::uint64_t>(query->integer(0)),
                     static_cast<std::uint64_t>(query->integer(1))};
}

// The oldest final jobs, as far as they are past a limit.
Result<std::vector<ForgottenJob>> jobs_past(SqliteDatabase& database, const ResultLimits& limits,
                                            std::int64_t unix_now_ns) {
  auto kept = kept_results(database);
  if (!kept) return kept.error();
  auto query = database.prepare(
      "SELECT id, request, result_bytes, finished FROM job WHERE finished IS NOT NULL"
      " ORDER BY finished LIMIT ?1");
  if (!query) return query.error();
  query->bind(1, number(kForgottenAtOnce));
  std::vector<ForgottenJob> jobs;
  while (true) {
    const auto row = query->step();
    if (!row) return row.error();
    if (!*row) return jobs;
    const std::int64_t age_ns = unix_now_ns - query->integer(3);
    const bool is_old = age_ns > 0 && static_cast<std::uint64_t>(age_ns) > limits.retention_ns;
    if (!is_old && kept->jobs <= limits.jobs && kept->bytes <= limits.bytes) return jobs;
    --kept->jobs;
    kept->bytes -= static_cast<std::uint64_t>(query->integer(2));
    jobs.push_back({static_cast<JobId>(query->integer(0)), query->text(1)});
  }
}

Result<std::vector<StoredWitness>> witnesses_of(SqliteDatabase& database, JobId id) {
  auto query = database.prepare(
      "SELECT owner, path, name, bytes, kind FROM witness WHERE job=?1 ORDER BY partition");
  if (!query) return query.error();
  query->bind(1, number(id));
  std::vector<StoredWitness> witnesses;
  while (true) {
    const auto row = query->step();
    if (!row) return row.error();
    if (!*row) return witnesses;
    witnesses.push_back({static_cast<StoredWitness::Owner>(query->integer(0)), query->text(1),
                         query->text(2), static_cast<std::uint64_t>(query->integer(3)),
                         static_cast<WitnessKind>(query->integer(4))});
  }
}

}  // namespace

Result<void> insert_job(SqliteDatabase& database, const StoredJob& job) {
  auto insert = database.prepare(
      "INSERT INTO job(id, state, priority, circuit, proof_kind, request, attempt, partitions,"
      " submitted, deadline, at_deadline)"
      " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)");
  if (!insert) return insert.error();
  const shm::JobRecord& record = job.record;
  insert->bind(1, number(record.job.value));
  insert->bind(2, number(record.state));
  insert->bind(3, number(record.priority));
  insert->bind(4, record.circuit.view());
  insert->bind(5, record.proof_kind.view());
  insert->bind(6, record.request.view());
  insert->bind(7, number(record.attempt));
  insert->bind(8, number(record.partitions));
  bind_time(*insert, 9, record.submitted);
  bind_time(*insert, 10, record.deadline);
  insert->bind(11, number(job.at_deadline));
  if (auto inserted = insert->run(); !inserted) return inserted;
  return insert_witnesses(database, job);
}

Result<void> end_job(SqliteDatabase& database, const JobEnd& end) {
  auto update = database.prepare(
      "UPDATE job SET state=?2, partitions_done=?3, partitions_failed=?4, partitions_cancelled=?5,"
      " admitted=?6, started=?7, finished=?8, failure_class=?9, failure_stage=?10,"
      " failure_partition=?11, failure_device=?12, failure=?13, result_bytes=?14,"
      " submitted=coalesce(?15, submitted), deadline=coalesce(?16, deadline)"
      " WHERE id=?1 AND finished IS NULL");
  if (!update) return update.error();
  const shm::JobRecord& record = end.record;
  update->bind(1, number(record.job.value));
  update->bind(2, number(record.state));
  update->bind(3, number(record.partitions_done));
  update->bind(4, number(record.partitions_failed));
  update->bind(5, number(record.partitions_cancelled));
  bind_time(*update, 6, record.admitted);
  bind_time(*update, 7, record.started);
  bind_time(*update, 8, record.finished);
  update->bind(9, number(record.failure_class));
  update->bind(10, number(record.failure_stage));
  update->bind(11, number(record.failure_partition.plus_one));
  update->bind(12, number(record.failure_device.plus_one));
  update->bind(13, end.failure);
  update->bind(14, result_bytes(end));
  // Told anew, as the others are: the time of day may have been set since.
  bind_time_of_this_boot(*update, 15, record.submitted);
  bind_time_of_this_boot(*update, 16, record.deadline);
  if (auto updated = update->run(); !updated) return updated;
  if (database.changed_rows() == 0) return {};
  for (const char* sql : {"DELETE FROM witness WHERE job=?1", "DELETE FROM run WHERE job=?1"}) {
    if (auto removed = remove_rows(database, sql, record.job.value); !removed) return removed;
  }
  return insert_proofs(database, end);
}

Result<void> note_run(SqliteDatabase& database, const JobRun& run) {
  auto note = database.prepare(
      run.turn == JobRun::Turn::kBegins
          ? "INSERT INTO run VALUES(?1, 1, 0) ON CONFLICT(job) DO UPDATE SET is_running=1"
          : "UPDATE run SET is_running=0 WHERE job=?1");
  if (!note) return note.error();
  note->bind(1, number(run.job));
  return note->run();
}

Result<void> count_attempts(SqliteDatabase& database) {
  return database.run(
      "UPDATE job SET attempt=attempt+1 WHERE finished IS NULL;"
      "UPDATE run SET deaths=deaths+is_running, is_running=0");
}

Result<std::vector<ForgottenJob>> forget_jobs(SqliteDatabase& database, const ResultLimits& limits,
                                              std::int64_t unix_now_ns) {
  auto jobs = jobs_past(database, limits, unix_now_ns);
  if (!jobs) return jobs;
  for (const ForgottenJob& job : *jobs) {
    for (const char* sql : {"DELETE FROM proof WHERE job=?1", "DELETE FROM job WHERE id=?1"}) {
      if (auto removed = remove_rows(database, sql, job.job); !removed) return removed.error();
    }
  }
  return jobs;
}

Result<std::vector<StoredJob>> unfinished_jobs(SqliteDatabase& database) {
  const std::string sql = std::string(kJobColumns) + "finished IS NULL ORDER BY id";
  auto query = database.prepare(sql.c_str());
  if (!query) return query.error();
  std::vector<StoredJob> jobs;
  while (true) {
    const auto row = query->step();
    if (!row) return row.error();
    if (!*row) return jobs;
    StoredJob& job = jobs.emplace_back(read_job(*query));
    auto witnesses = witnesses_of(database, job.record.job.value);
    if (!witnesses) return witnesses.error();
    job.witnesses = std::move(*witnesses);
  }
}

Result<std::optional<StoredJob>> finished_job(SqliteDatabase& database, JobId id) {
  const std::string sql = std::string(kJobColumns) + "id=?1 AND finished IS NOT NULL";
  auto query = database.prepare(sql.c_str());
  if (!query) return query.error();
  query->bind(1, number(id));
  const auto row = query->step();
  if (!row) return row.error();
  return *row ? std::optional(read_job(*query)) : std::nullopt;
}

Result<std::vector<std::shared_ptr<const ProofTexts>>> proofs_of(
    SqliteDatabase& database, JobId id, std::optional<std::uint32_t> partition) {
  auto query = database.prepare(
      "SELECT proof, inputs FROM proof WHERE job=?1 AND (?2 IS NULL OR partition=?2)"
      " ORDER BY partition");
  if (!query) return query.error();
  query->bind(1, number(id));
  if (partition) query->bind(2, number(*partition));
  std::vector<std::shared_ptr<const ProofTexts>> proofs;
  while (true) {
    const auto row = query->step();
    if (!row) return row.error();
    if (!*row) return proofs;
    proofs.push_back(
        std::make_shared<const ProofTexts>(ProofTexts{query->text(0), query->text(1)}));
  }
}

Result<std::vector<StoredRequest>> stored_requests(SqliteDatabase& database) {
  auto query = database.prepare(
      "SELECT request, circuit, max(id), attempt, partitions, state FROM job WHERE request != ''"
      " GROUP BY request");
  if (!query) return query.error();
  std::vector<StoredRequest> requests;
  while (true) {
    const auto row = query->step();
    if (!row) return row.error();
    if (!*row) return requests;
    requests.push_back({query->text(0), query->text(1), static_cast<JobId>(query->integer(2)),
                        small(*query, 3), small(*query, 4),
                        static_cast<shm::JobState>(query->integer(5))});
  }
}

Result<JobId> highest_job_id(SqliteDatabase& database) {
  auto highest = database.prepare("SELECT coalesce(max(id), 0) FROM job");
  if (!highest) return highest.error();
  const auto row = highest->step();
  if (!row) return row.error();
  return static_cast<JobId>(highest->integer(0));
}

}  // namespace vitrine::engine
