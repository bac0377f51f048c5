// SPDX-License-Identifier: Apache-2.0
// What the job store's tables hold, as statements on a connection (job_store_file.h has the
// tables).
//
// Threads  those of the connection.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/sqlite_database.h"
#include "engine/stored_job.h"

namespace vitrine::engine {

// To be called inside a transaction.
[[nodiscard]] Result<void> insert_job(SqliteDatabase& database, const StoredJob& job);
// The terminal transition of a job that is there and not final; of another, nothing.
[[nodiscard]] Result<void> end_job(SqliteDatabase& database, const JobEnd& end);
[[nodiscard]] Result<void> note_run(SqliteDatabase& database, const JobRun& run);
// One more attempt of every job that is not final, and one more death for those that were running.
[[nodiscard]] Result<void> count_attempts(SqliteDatabase& database);

struct ResultLimits {
  std::uint64_t retention_ns = 86'400'000'000'000;
  std::uint64_t bytes = std::uint64_t{1} << 30;
  std::uint64_t jobs = 10'000;
};
// A job that is not kept any more.
struct ForgottenJob {
  JobId job = 0;
  std::string request;
};
// Removes final jobs past the limits, oldest end first; kForgottenAtOnce at most.
inline constexpr std::size_t kForgottenAtOnce = 200;
[[nodiscard]] Result<std::vector<ForgottenJob>> forget_jobs(SqliteDatabase& database,
                                                            const ResultLimits& limits,
                                                            std::int64_t unix_now_ns);

// In the order of the ids, with their witnesses.
[[nodiscard]] Result<std::vector<StoredJob>> unfinished_jobs(SqliteDatabase& database);
[[nodiscard]] Result<std::optional<StoredJob>> finished_job(SqliteDatabase& database, JobId id);
// Of one partition, or of all in their order.
[[nodiscard]] Result<std::vector<std::shared_ptr<const ProofTexts>>> proofs_of(
    SqliteDatabase& database, JobId id, std::optional<std::uint32_t> partition);
[[nodiscard]] Result<std::vector<StoredRequest>> stored_requests(SqliteDatabase& database);
// Zero when there is none.
[[nodiscard]] Result<JobId> highest_job_id(SqliteDatabase& database);

}  // namespace vitrine::engine
