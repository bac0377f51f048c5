// SPDX-License-Identifier: Apache-2.0
// The job store by itself: what is put into it is there again, whoever died meanwhile.
#include "engine/job_store.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <set>

#include "shm/clock.h"
#include "tests/engine/container_bytes.h"
#include "tests/engine/store_reports.h"
#include "tests/full_disk.h"
#include "tests/scratch_folder.h"

namespace vitrine::engine::testing {
namespace {

using Catch::Matchers::Contains;
using shm::JobState;

StoredJob some_job(JobId id, unsigned partitions = 1, const std::string& request = {}) {
  StoredJob job;
  job.record.job = {id};
  job.record.state = JobState::kReceived;
  job.record.priority = shm::Priority::kHigh;
  job.record.circuit = std::string_view("demo");
  job.record.proof_kind = std::string_view("kind");
  job.record.request = std::string_view(request);
  job.record.attempt = 1;
  job.record.partitions = partitions;
  job.record.submitted = {shm::monotonic_ns()};
  for (unsigned number = 0; number < partitions; ++number) {
    job.witnesses.push_back({StoredWitness::Owner::kEngine, std::to_string(number) + ".wtns",
                             "mine.wtns", 100 + number});
  }
  return job;
}

JobEnd done(const StoredJob& job, std::size_t proof_bytes = 4) {
  JobEnd end;
  end.record = job.record;
  end.record.state = JobState::kDone;
  end.record.partitions_done = job.record.partitions;
  end.record.finished = {shm::monotonic_ns()};
  for (unsigned number = 0; number < job.record.partitions; ++number) {
    end.proofs.push_back(std::make_shared<const ProofTexts>(
        ProofTexts{std::string(proof_bytes, 'p'), "[" + std::to_string(number) + "]"}));
  }
  return end;
}

std::unique_ptr<JobStore> open_store(const std::filesystem::path& path, ResultLimits limits = {}) {
  auto store = JobStore::open(path, limits);
  if (!store) FAIL(store.error().text);
  return std::move(*store);
}

// The deaths of the only job, for each start of the store; what is put in between is written.
std::uint32_t deaths_at_next_start(const std::filesystem::path& path,
                                   const std::vector<JobRun>& runs) {
  const auto store = open_store(path);
  const auto unfinished = store->take_unfinished().value();
  REQUIRE(unfinished.size() == 1);
  StoreReports reports;
  store->start(reports.listener());
  for (const JobRun& run : runs) store->put(run);
  store->stop();
  return unfinished[0].deaths;
}

TEST_CASE("a death is counted for a job that was running when its engine died, and once") {
  using Turn = JobRun::Turn;
  const ScratchFolder scratch;
  const auto path = scratch / "jobs.db";
  {
    StoreReports reports;
    const auto store = open_store(path);
    store->start(reports.listener());
    store->put(some_job(7));
    reports.await_stored();
  }
  CHECK(deaths_at_next_start(path, {{7, Turn::kBegins}}) == 0);
  CHECK(deaths_at_next_start(path, {}) == 1);
  CHECK(deaths_at_next_start(path, {{7, Turn::kBegins}, {7, Turn::kStops}}) == 1);
  CHECK(deaths_at_next_start(path, {{7, Turn::kBegins}}) == 1);
  CHECK(deaths_at_next_start(path, {}) == 2);
  const auto store = open_store(path);
  StoreReports reports;
  store->start(reports.listener());
  store->put(JobRun{7, Turn::kBegins});
  store->put(done(some_job(7)));
  store->stop();
  const auto database = SqliteDatabase::open(path, SqliteDatabase::Access::kWrite).value();
  CHECK(database.value("SELECT count(*) FROM run").value() == "0");
}

TEST_CASE("a job is there again after the store was closed, as one attempt more") {
  const ScratchFolder scratch;
  const StoredJob job = some_job(7, 2, "mine");
  {
    StoreReports reports;
    const auto store = open_store(scratch / "jobs.db");
    CHECK(store->take_unfinished().value().empty());
    CHECK(store->highest_id().value() == 0);
    store->start(reports.listener());
    store->put(job);
    CHECK(reports.await_stored().stored == std::vector<JobId>{7});
    CHECK_FALSE(store->finished(7).value().has_value());
  }
  for (unsigned attempt = 2; attempt < 4; ++attempt) {
    const auto store = open_store(scratch / "jobs.db");
    CHECK(store->highest_id().value() == 7);
    const auto unfinished = store->take_unfinished().value();
    REQUIRE(unfinished.size() == 1);
    const shm::JobRecord& record = unfinished[0].record;
    CHECK(record.job.value == 7);
    CHECK(record.attempt == attempt);
    CHECK(record.priority == shm::Priority::kHigh);
    CHECK(record.circuit.view() == "demo");
    CHECK(record.proof_kind.view() == "kind");
    CHECK(record.request.view() == "mine");
    CHECK_FALSE(record.deadline.is_set());
    const auto moved_ns = static_cast<std::int64_t>(record.submitted.ns - job.record.submitted.ns);
    CHECK(std::abs(moved_ns) < 60'000'000'000);
    REQUIRE(unfinished[0].witnesses.size() == 2);
    CHECK(unfinished[0].witnesses[1].path == "1.wtns");
    CHECK(unfinished[0].witnesses[1].name == "mine.wtns");
    CHECK(unfinished[0].witnesses[1].bytes == 101);
    const auto requests = store->requests().value();
    REQUIRE(requests.size() == 1);
    CHECK(requests[0].job == 7);
    CHECK(requests[0].attempt == attempt);
    CHECK(requests[0].partitions == 2);
  }
}

TEST_CASE("an end is kept with its proofs, and there is one only") {
  const ScratchFolder scratch;
  const StoredJob job = some_job(7, 2);
  StoreReports reports;
  auto store = open_store(scratch / "jobs.db");
  store->start(reports.listener());
  store->put(job);
  store->put(done(job));
  reports.await_ended();
  JobEnd late = done(job);
  late.record.state = JobState::kFailed;
  late.failure = "too late";
  store->put(late);
  store->put(done(some_job(8)));  // which nobody has put
  reports.await([](const StoreReport& report) { return !report.ended.empty(); });
  store.reset();
  store = open_store(scratch / "jobs.db");
  CHECK(store->take_unfinished().value().empty());
  CHECK_FALSE(store->finished(8).value().has_value());
  CHECK(store->proofs(8, {}).value().empty());
  const auto kept = store->finished(7).value();
  REQUIRE(kept.has_value());
  CHECK(kept->record.state == JobState::kDone);
  CHECK(kept->record.partitions_done == 2);
  CHECK(kept->failure.empty());
  CHECK(kept->record.finished.is_set());
  CHECK(store->proofs(7, {}).value().size() == 2);
  CHECK(store->proofs(7, 1).value().at(0)->inputs == "[1]");
  CHECK(store->proofs(7, 2).value().empty());
}

TEST_CASE("a failure is kept with its cause in full") {
  const ScratchFolder scratch;
  const StoredJob job = some_job(7, 3);
  StoreReports reports;
  const auto store = open_store(scratch / "jobs.db");
  store->start(reports.listener());
  JobEnd end;
  end.record = job.record;
  end.record.state = JobState::kFailed;
  end.record.failure_class = shm::FailureClass::kBadInput;
  end.record.failure_stage = shm::PartitionStage::kSynthesizing;
  end.record.failure_partition = shm::Index::of(2);
  end.record.partitions_failed = 1;
  end.record.partitions_cancelled = 2;
  end.record.finished = {shm::monotonic_ns()};
  end.failure = std::string(300, 'f');
  store->put(job);
  store->put(end);
  reports.await_ended();
  const auto kept = store->finished(7).value();
  REQUIRE(kept.has_value());
  CHECK(kept->failure == end.failure);
  CHECK(kept->record.failure_class == shm::FailureClass::kBadInput);
  CHECK(kept->record.failure_stage == shm::PartitionStage::kSynthesizing);
  CHECK(kept->record.failure_partition.number() == 2);
  CHECK_FALSE(kept->record.failure_device.is_set());
  CHECK_FALSE(kept->record.failure.view().empty());
}

TEST_CASE("what comes in while the store writes goes to disk together") {
  const ScratchFolder scratch;
  std::mutex writing;
  std::unique_lock hold(writing);
  StoreReports reports;
  const auto store = open_store(scratch / "jobs.db");
  store->start([&](const StoreReport& report) {
    const std::lock_guard wait(writing);
    reports.listener()(report);
  });
  store->put(some_job(1));
  // The thread has the first job in hand, or has not begun: either way it stops before the report.
  for (JobId id = 2; id <= 300; ++id) store->put(some_job(id));
  hold.unlock();
  std::set<JobId> stored;
  unsigned writes = 0;
  while (stored.size() < 300) {
    const StoreReport report = reports.await_stored();
    stored.insert(report.stored.begin(), report.stored.end());
    ++writes;
  }
  CHECK(writes <= 3);
}

TEST_CASE("results go when they are old, many or large, those that ended first") {
  const ScratchFolder scratch;
  ResultLimits limits;
  JobId first_kept = 0;
  SECTION("many") {
    limits.jobs = 4;
    first_kept = 7;
  }
  SECTION("large") {
    limits.bytes = 3 * (1000 + 3) + 10;
    first_kept = 8;
  }
  SECTION("old") {
    limits.retention_ns = 0;
    first_kept = 11;
  }
  StoreReports reports;
  auto store = open_store(scratch / "jobs.db");
  store->start(reports.listener());
  for (JobId id = 1; id <= 10; ++id) {
    const StoredJob job = some_job(id, 1, "r" + std::to_string(id));
    store->put(job);
    store->put(done(job, 1000));
  }
  store->put(some_job(20));
  store.reset();
  store = open_store(scratch / "jobs.db", limits);
  std::set<std::string> forgotten;
  store->start([&](const StoreReport& report) {
    for (const ForgottenJob& job : report.forgotten) forgotten.insert(job.request);
  });
  store->stop();
  CHECK(forgotten.size() == first_kept - 1);
  for (JobId id = 1; id <= 10; ++id) {
    INFO(id);
    CHECK(store->finished(id).value().has_value() == (id >= first_kept));
    CHECK(store->proofs(id, {}).value().empty() == (id < first_kept));
  }
  CHECK(store->take_unfinished().value().size() == 1);
}

std::string file_bytes(const std::filesystem::path& path) { return read_file(path); }

StartFailure refused(const std::filesystem::path& path) {
  auto store = JobStore::open(path, {});
  REQUIRE(store.has_error());
  CHECK_THAT(store.error().text, Contains("job_store " + path.string()));
  CHECK(store.error().text.find('\n') == std::string::npos);
  return store.error();
}

void run_sql(const std::filesystem::path& path, const std::string& sql) {
  const auto database = SqliteDatabase::open(path, SqliteDatabase::Access::kWrite).value();
  const auto done = database.run(sql.c_str());
  if (!done) FAIL(done.error().text);
}

TEST_CASE("a store that is not good is refused by name and stays as it was") {
  using Kind = StartFailure::Kind;
  const ScratchFolder scratch;
  const std::filesystem::path path = scratch / "jobs.db";
  {
    const auto store = open_store(path);
    store->start([](const StoreReport&) {});
    for (JobId id = 1; id < 200; ++id) store->put(some_job(id, 4));
  }
  SECTION("random bytes") {
    std::ofstream(path) << std::string(8192, 'x');
    const std::string before = file_bytes(path);
    const StartFailure failure = refused(path);
    CHECK(failure.kind == Kind::kRuntime);
    CHECK_THAT(failure.text, Contains("damaged") && Contains("not a database"));
    CHECK(file_bytes(path) == before);
  }
  SECTION("a page overwritten") {
    std::string bytes = file_bytes(path);
    REQUIRE(bytes.size() > 5 * 4096);
    std::fill(bytes.begin() + 2 * 4096, bytes.begin() + 5 * 4096, '\xA5');
    std::ofstream(path, std::ios::binary) << bytes;
    const StartFailure failure = refused(path);
    CHECK(failure.kind == Kind::kRuntime);
    CHECK_THAT(failure.text, Contains("damaged"));
    CHECK(file_bytes(path) == bytes);
  }
  SECTION("cut short") {
    std::filesystem::resize_file(path, 3 * 4096);
    const std::string before = file_bytes(path);
    CHECK(refused(path).kind == Kind::kRuntime);
    CHECK(file_bytes(path) == before);
  }
  SECTION("of a newer vitrined") {
    run_sql(path, "PRAGMA user_version=3");
    const StartFailure failure = refused(path);
    CHECK(failure.kind == Kind::kUsage);
    CHECK_THAT(failure.text, Contains("schema 3") && Contains("knows 2"));
  }
  SECTION("of another program") {
    run_sql(path, "PRAGMA application_id=1");
    CHECK_THAT(refused(path).text, Contains("another program"));
  }
  SECTION("a link") {
    std::filesystem::rename(path, scratch / "real.db");
    std::filesystem::create_symlink(scratch / "real.db", path);
    CHECK(refused(path).kind == Kind::kUsage);
  }
  SECTION("a folder") {
    std::filesystem::remove(path);
    std::filesystem::create_directory(path);
    CHECK(refused(path).kind == Kind::kUsage);
  }
  SECTION("of a live engine") {
    const auto store = open_store(path);
    const StartFailure failure = refused(path);
    CHECK(failure.kind == Kind::kInUse);
    CHECK_THAT(failure.text, Contains("PID " + std::to_string(::getpid())));
  }
  SECTION("locked by another program") {
    const auto other = SqliteDatabase::open(path, SqliteDatabase::Access::kWrite).value();
    REQUIRE(other
                .run("PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE;"
                     "UPDATE probe SET count=count")
                .has_value());
    const StartFailure failure = refused(path);
    CHECK(failure.kind == Kind::kInUse);
    CHECK_THAT(failure.text, Contains("another program has it locked"));
  }
}

TEST_CASE("a store of another user is refused") {
  const ScratchFolder scratch;
  if (::geteuid() != 0) {
    WARN("not tested: only root can give a file away");
    return;
  }
  { const auto store = open_store(scratch / "jobs.db"); }
  std::filesystem::remove(scratch / "jobs.db.lock");
  REQUIRE(::chown((scratch / "jobs.db").c_str(), 12345, 12345) == 0);
  const StartFailure failure = refused(scratch / "jobs.db");
  CHECK(failure.kind == StartFailure::Kind::kUsage);
  CHECK_THAT(failure.text, Contains("uid 12345"));
}

TEST_CASE("the store is its user's alone, with all that lies beside it") {
  const ScratchFolder scratch;
  const auto store = open_store(scratch / "new/folder/jobs.db");
  store->start([](const StoreReport&) {});
  store->put(some_job(1));
  store->stop();
  unsigned files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(scratch / "new/folder")) {
    struct stat found {};
    REQUIRE(::lstat(entry.path().c_str(), &found) == 0);
    INFO(entry.path());
    CHECK((found.st_mode & 0777) == 0600);
    ++files;
  }
  CHECK(files >= 3);
}

TEST_CASE("a full disk refuses jobs, puts ends off, and both go well when there is room again") {
  const ScratchFolder scratch;
  const SmallDisk disk(scratch.path());
  if (!disk.is_there()) {
    WARN("not tested: only root may mount a file system");
    return;
  }
  const StoredJob running = some_job(1, 1, "r");
  {
    StoreReports reports;
    const auto store = open_store(scratch / "jobs.db");
    store->start(reports.listener());
    store->put(running);
    reports.await_stored();
    disk.fill();
    // The log of the database has room for some of them.
    StoreReport refusal;
    for (JobId id = 2; refusal.refused.empty(); ++id) {
      REQUIRE(id < 1000);
      store->put(some_job(id, 200));
      refusal = reports.await([](const StoreReport& report) {
        return !report.stored.empty() || !report.refused.empty();
      });
    }
    CHECK_THAT(refusal.fault, Contains("full"));
    CHECK(refusal.stored.empty());
    store->put(done(running, 100'000));
    CHECK_FALSE(reports.await_ended().fault.empty());
    CHECK_FALSE(store->finished(1).value().has_value());
    disk.make_room();
    reports.await([](const StoreReport& report) { return report.fault.empty(); });
    CHECK(store->finished(1).value().has_value());
  }
  const auto store = open_store(scratch / "jobs.db");
  CHECK(store->proofs(1, 0).value().at(0)->proof.size() == 100'000);
}

}  // namespace
}  // namespace vitrine::engine::testing
