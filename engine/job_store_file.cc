// SPDX-License-Identifier: Apache-2.0
#include "engine/job_store_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

#include "shm/file_descriptor.h"

namespace vitrine::engine {
namespace {

// 512 KiB: the kernel caches the file as well, and an engine is to stay as small as it was after
// its first jobs.
constexpr const char* kPageCache = "PRAGMA cache_size=-512";

using Kind = StartFailure::Kind;

const std::string kApplicationId = "1450472051";  // "Vtrs"
const std::string kSchemaVersion = "2";

constexpr const char* kSchema = R"(
  CREATE TABLE job(
    id INTEGER PRIMARY KEY, state INTEGER NOT NULL, priority INTEGER NOT NULL,
    circuit TEXT NOT NULL, proof_kind TEXT NOT NULL, request TEXT NOT NULL,
    attempt INTEGER NOT NULL, partitions INTEGER NOT NULL,
    partitions_done INTEGER NOT NULL DEFAULT 0, partitions_failed INTEGER NOT NULL DEFAULT 0,
    partitions_cancelled INTEGER NOT NULL DEFAULT 0,
    submitted INTEGER, admitted INTEGER, started INTEGER, finished INTEGER, deadline INTEGER,
    at_deadline INTEGER NOT NULL DEFAULT 0,
    failure_class INTEGER NOT NULL DEFAULT 0, failure_stage INTEGER NOT NULL DEFAULT 0,
    failure_partition INTEGER NOT NULL DEFAULT 0, failure_device INTEGER NOT NULL DEFAULT 0,
    failure TEXT NOT NULL DEFAULT '', result_bytes INTEGER NOT NULL DEFAULT 0);
  CREATE INDEX job_finished ON job(finished);
  CREATE TABLE witness(
    job INTEGER NOT NULL, partition INTEGER NOT NULL, owner INTEGER NOT NULL,
    path TEXT NOT NULL, name TEXT NOT NULL, bytes INTEGER NOT NULL, kind INTEGER NOT NULL,
    PRIMARY KEY(job, partition)) WITHOUT ROWID;
  CREATE TABLE proof(
    job INTEGER NOT NULL, partition INTEGER NOT NULL, proof TEXT NOT NULL, inputs TEXT NOT NULL,
    PRIMARY KEY(job, partition)) WITHOUT ROWID;
  CREATE TABLE probe(count INTEGER NOT NULL);
  INSERT INTO probe VALUES(0);
)";

std::string shown(const std::filesystem::path& path) { return "job_store " + path.string(); }

StartFailure refusal(Kind kind, const std::filesystem::path& path, const std::string& rule) {
  return {kind, shown(path) + ": " + rule};
}

// Made when it is not there, also in a file of before: an older vitrined does not mind it.
constexpr const char* kRunTable =
    "CREATE TABLE IF NOT EXISTS run("
    "job INTEGER PRIMARY KEY, is_running INTEGER NOT NULL, deaths INTEGER NOT NULL)";

// A regular file of this user's alone, made when there is none.
std::optional<StartFailure> prepare_file(const std::filesystem::path& path) {
  const int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
  const shm::FileDescriptor file(::open(path.c_str(), flags, 0600));
  struct stat found {};
  if (!file.is_open()) {
    const int why = errno;
    const bool is_others = ::lstat(path.c_str(), &found) == 0 && found.st_uid != ::geteuid();
    if (is_others) {
      return refusal(Kind::kUsage, path,
                     "belongs to another user: uid " + std::to_string(found.st_uid));
    }
    if (why == ELOOP) return refusal(Kind::kUsage, path, "is a link");
    return refusal(why == ENOSPC ? Kind::kRuntime : Kind::kUsage, path, std::strerror(why));
  }
  if (::fstat(file.number(), &found) != 0) {
    return refusal(Kind::kRuntime, path, std::strerror(errno));
  }
  if (!S_ISREG(found.st_mode)) return refusal(Kind::kUsage, path, "is not a regular file");
  if (found.st_uid != ::geteuid()) {
    return refusal(Kind::kUsage, path,
                   "belongs to another user: uid " + std::to_string(found.st_uid));
  }
  if (::fchmod(file.number(), 0600) != 0) {
    return refusal(Kind::kRuntime, path, std::strerror(errno));
  }
  return std::nullopt;
}

StartFailure failure_of(const SqliteDatabase& database, const std::filesystem::path& path,
                        const Error& error) {
  switch (database.fault_code() & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return refusal(Kind::kInUse, path, "another program has it locked");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return refusal(Kind::kRuntime, path,
                     "is damaged: " + error.text + "; nothing in it was changed");
    default:
      return refusal(Kind::kRuntime, path, error.text);
  }
}

// The database at one place, with what is wrong with it as the start tells it.
class Opening {
 public:
  Opening(SqliteDatabase& database, const std::filesystem::path& path)
      : database_(database), path_(path) {}

  std::optional<StartFailure> judge() {
    const auto tables = read("SELECT count(*) FROM sqlite_master");
    if (failure_) return failure_;
    is_new_ = tables == "0" && read("PRAGMA application_id") == "0";
    if (!is_new_) judge_contents();
    return failure_;
  }

  std::optional<StartFailure> make_ready() {
    if (read("PRAGMA journal_mode=WAL") != "wal" && !failure_) {
      failure_ = refusal(Kind::kRuntime, path_, "its file system allows no write-ahead log");
    }
    run("PRAGMA synchronous=FULL; PRAGMA temp_store=MEMORY; PRAGMA journal_size_limit=67108864");
    run(kPageCache);
    if (is_new_) make_tables();
    run(kRunTable);
    return failure_;
  }

 private:
  void make_tables() {
    const std::string made = "BEGIN IMMEDIATE; PRAGMA application_id=" + kApplicationId +
                             "; PRAGMA user_version=" + kSchemaVersion + ";" + kSchema + "COMMIT";
    run(made.c_str());
  }

  void judge_contents() {
    const std::string application = read("PRAGMA application_id");
    const std::string version = read("PRAGMA user_version");
    if (failure_) return;
    if (application != kApplicationId) {
      failure_ = refusal(Kind::kUsage, path_, "is the database of another program");
    } else if (version != kSchemaVersion) {
      failure_ = refusal(Kind::kUsage, path_,
                         "has schema " + version + ", and this vitrined knows " + kSchemaVersion);
    } else if (const auto found = read("PRAGMA quick_check(1)"); !failure_ && found != "ok") {
      const std::string first = found.substr(0, found.find('\n'));
      failure_ =
          refusal(Kind::kRuntime, path_, "is damaged: " + first + "; nothing in it was changed");
    }
  }

  std::string read(const char* sql) {
    if (failure_) return {};
    auto value = database_.value(sql);
    if (!value) failure_ = failure_of(database_, path_, value.error());
    return value ? *value : std::string();
  }

  void run(const char* sql) {
    if (failure_) return;
    if (auto done = database_.run(sql); !done) {
      failure_ = failure_of(database_, path_, done.error());
    }
  }

  SqliteDatabase& database_;
  const std::filesystem::path& path_;
  bool is_new_ = false;
  std::optional<StartFailure> failure_;
};

}  // namespace

StartResult<JobStoreFile> open_job_store_file(const std::filesystem::path& path) {
  std::error_code problem;
  std::filesystem::create_directories(path.parent_path(), problem);
  if (!std::filesystem::is_directory(path.parent_path(), problem)) {
    return refusal(Kind::kUsage, path, "its folder cannot be made");
  }
  std::filesystem::path lock_file = path;
  lock_file += ".lock";
  auto lock = shm::OwnerLock::take(lock_file, shm::Owned::kJobStore, shown(path));
  if (!lock) return start_failure_of(lock.error());
  if (auto failure = prepare_file(path)) return *failure;
  auto writer = SqliteDatabase::open(path, SqliteDatabase::Access::kWrite);
  if (!writer) return refusal(Kind::kRuntime, path, writer.error().text);
  Opening opening(*writer, path);
  if (auto failure = opening.judge()) return *failure;
  if (auto failure = opening.make_ready()) return *failure;
  auto reader = SqliteDatabase::open(path, SqliteDatabase::Access::kRead);
  if (!reader) return refusal(Kind::kRuntime, path, reader.error().text);
  if (auto done = reader->run(kPageCache); !done) return failure_of(*reader, path, done.error());
  return JobStoreFile{std::move(*lock), std::move(*writer), std::move(*reader)};
}

}  // namespace vitrine::engine
