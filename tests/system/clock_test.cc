// SPDX-License-Identifier: Apache-2.0
// Time zones, and a time of day that is set while an engine works: they change what is shown as a
// time of day, and nothing else (case E21).
#include "shm/clock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>

#include <boost/json.hpp>
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "engine/sqlite_database.h"
#include "shm/attachment.h"
#include "shm/time_text.h"
#include "tests/engine/container_bytes.h"
#include "tests/engine/real_inputs.h"
#include "tests/engine/segment_watch.h"
#include "tests/system/daemon_process.h"
#include "tests/tools/program_run.h"

namespace vitrine::system_test {
namespace {

using Catch::Matchers::Contains;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kHour = 3600 * kSecond;

// What a run tells that depends on no clock and no id of the run.
std::vector<std::string> events_of(const Site& site) {
  auto reader = shm::SegmentReader::attach(site.segment());
  REQUIRE(reader.has_value());
  std::vector<std::string> events;
  std::uint64_t first_job = 0;
  const auto batch = reader->events_after(0, 100'000);
  for (const shm::Event& event : batch->events) {
    if (first_job == 0) first_job = event.job.value;
    const std::uint64_t job = event.job.value == 0 ? 0 : event.job.value - first_job + 1;
    events.push_back(std::string(shm::word(event.type)) + " " + std::to_string(job) + " " +
                     std::to_string(event.partition.plus_one) + " " +
                     std::to_string(event.worker.plus_one));
  }
  return events;
}

// What a reader in the zone shows of the events, but for their ages, which grow.
std::string shown_in_zone(const Site& site, const std::string& zone) {
  const auto run =
      tests::run_vitrine({"events", "--json", "--segment", site.segment()}, {"TZ=" + zone});
  std::istringstream lines(run.output);
  std::string shown;
  for (std::string line; std::getline(lines, line);) {
    boost::json::object event = boost::json::parse(line).as_object();
    event.erase("age_seconds");
    shown += boost::json::serialize(event) + "\n";
  }
  return shown;
}

// The same work in an engine of a time zone: its events, and that its log tells UTC.
std::vector<std::string> run_in_zone(const std::string& zone) {
  const Site site;
  RunningDaemon daemon(site,
                       {"--workers-per-device", "1", "--threads", "1", "--log-format", "json"},
                       {"env", "TZ=" + zone});
  engine::testing::SegmentWatch watch(site.segment());
  for (int job = 0; job < 3; ++job) CHECK(final_state(site, submit(site, 1)) == "done");
  CHECK_FALSE(shown_in_zone(site, "UTC").empty());
  CHECK(shown_in_zone(site, "UTC") == shown_in_zone(site, "Asia/Shanghai"));
  daemon.signal(SIGTERM);
  CHECK(daemon.exit_code() == 0);
  std::ifstream log(site.scratch / "log");
  for (std::string line; std::getline(log, line);) {
    const std::string time = boost::json::parse(line).at("time").as_string().c_str();
    CHECK(time.ends_with("Z"));
    CHECK(time >= shm::rfc3339_ms(shm::unix_ns() - 600 * kSecond));
    CHECK(time <= shm::rfc3339_ms(shm::unix_ns()));
  }
  for (const std::string& violation : watch.stop()) FAIL_CHECK(violation);
  return events_of(site);
}

TEST_CASE("an engine tells the same, byte for byte, in whatever time zone it and its readers are",
          "[E21]") {
  const std::vector<std::string> utc = run_in_zone("UTC");
  CHECK(utc.size() > 20);
  CHECK(utc == run_in_zone("Asia/Shanghai"));
}

// A time of day that the test sets, for programs that are started with command().
class SteppedClock {
 public:
  explicit SteppedClock(const std::filesystem::path& path) : path_(path) {
    const std::int64_t none = 0;
    std::ofstream(path_).write(reinterpret_cast<const char*>(&none), sizeof(none));
  }
  std::vector<std::string> command() const {
    // A sanitizer wants to be loaded first, but does without.
    return {"env", "LD_PRELOAD=" VITRINE_BIN "/stepped_clock.so", "STEPPED_CLOCK=" + path_.string(),
            "ASAN_OPTIONS=verify_asan_link_order=0"};
  }
  void step(std::int64_t offset_ns) const {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.write(reinterpret_cast<const char*>(&offset_ns), sizeof(offset_ns));
    REQUIRE(file.flush());
  }

 private:
  std::filesystem::path path_;
};

std::string job_of(const ApiAnswer& answer) {
  REQUIRE((answer.status == 202 || answer.status == 200));
  return boost::json::parse(answer.body).at("job").as_string().c_str();
}

std::string submit_to_end_in(const Site& site, unsigned partitions, const std::string& deadline) {
  const auto file = engine::testing::circuit_folder("bn128", "demo") / "witness.1.wtns";
  const std::vector<std::string> witnesses(partitions, engine::testing::read_file(file));
  return job_of(ApiClient(site.socket())
                    .post_form("/v1/jobs?circuit=demo&cancel_at_deadline=true&deadline=" + deadline,
                               witnesses));
}

std::int64_t stored_duration_ns(const Site& site, const std::string& job) {
  using engine::SqliteDatabase;
  const std::string sql = "SELECT finished-submitted FROM job WHERE id=" + job;
  const auto path = site.scratch / "vitrine/system/jobs.db";
  return std::stoll(SqliteDatabase::open(path, SqliteDatabase::Access::kWrite)
                        .value()
                        .value(sql.c_str())
                        .value());
}

const shm::JobRecord& row_of(const shm::Snapshot& now, const std::string& job) {
  const auto& jobs = now.rows<shm::JobRecord>();
  const auto row = std::ranges::find(jobs, std::stoull(job),
                                     [](const shm::JobRecord& one) { return one.job.value; });
  REQUIRE(row != jobs.end());
  return *row;
}

TEST_CASE("a time of day that is set an hour off changes no age, duration, deadline or verdict",
          "[E21]") {
  const int hours = GENERATE(1, -1);
  CAPTURE(hours);
  const Site site;
  const SteppedClock clock(site.scratch / "clock");
  std::string across, before;
  {
    RunningDaemon daemon(site, {}, clock.command());
    engine::testing::SegmentWatch watch(site.segment());
    shm::Attachment attachment(shm::Target{.path = site.segment()});
    CHECK(attachment.observe().verdict.word == shm::VerdictWord::kIdle);
    const std::uint64_t begin_ns = shm::monotonic_ns();
    before = submit_to_end_in(site, 1, "10m");
    CHECK(final_state(site, before) == "done");
    across = submit_to_end_in(site, 48, "10m");
    snapshot_when(daemon, site.segment(),
                  [&](const auto& now) { return row_of(now, across).partitions_done > 0; });
    clock.step(hours * kHour);
    CHECK(final_state(site, across) == "done");
    const std::string after = submit_to_end_in(site, 1, "10m");
    CHECK(final_state(site, after) == "done");
    CHECK(attachment.observe().verdict.word == shm::VerdictWord::kIdle);
    const shm::Snapshot seen =
        snapshot_when(daemon, site.segment(), [](const auto&) { return true; });
    CHECK(seen.rows<shm::CountersRecord>().at(0).deadlines_missed == 0);
    for (const std::string& job : {before, across, after}) {
      const shm::JobRecord& row = row_of(seen, job);
      CHECK(row.submitted.ns >= begin_ns);
      CHECK(row.finished.ns <= shm::monotonic_ns());
      CHECK(row.submitted.ns <= row.started.ns);
      CHECK(row.started.ns <= row.finished.ns);
    }
    CHECK(seen.age_ns(row_of(seen, before).finished) >= 0);
    CHECK(seen.age_ns(row_of(seen, before).finished) < 600 * kSecond);
    for (const std::string& job : {before, across, after}) {
      CHECK(stored_duration_ns(site, job) > 0);
      CHECK(stored_duration_ns(site, job) < 600 * kSecond);
    }
    // The step did reach the engine: its time of day is not that of the host.
    CHECK(std::abs(seen.taken_unix_ns() - shm::unix_ns()) > kHour / 2);
    daemon.signal(SIGTERM);
    CHECK(daemon.exit_code() == 0);
    for (const std::string& violation : watch.stop()) FAIL_CHECK(violation);
  }
  // A start in the new time knows the jobs of the old one, and its ids lie beyond theirs.
  RunningDaemon next(site, {}, clock.command());
  CHECK(final_state(site, across) == "done");
  const std::string newest = submit(site, 1);
  CHECK(std::stoull(newest) > std::stoull(across));
  CHECK(final_state(site, newest) == "done");
}

}  // namespace
}  // namespace vitrine::system_test
