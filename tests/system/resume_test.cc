// SPDX-License-Identifier: Apache-2.0
// vitrined killed and started again under load: every job is accounted for (cases E9, E13).
#include <signal.h>

#include <atomic>
#include <boost/json.hpp>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "engine/sqlite_database.h"
#include "shm/attachment.h"
#include "shm/invariants.h"
#include "shm/segment_reader.h"
#include "tests/engine/container_bytes.h"
#include "tests/engine/real_inputs.h"
#include "tests/full_disk.h"
#include "tests/system/daemon_process.h"

namespace vitrine::system_test {
namespace {

using Catch::Matchers::Contains;

std::vector<std::string> witnesses(unsigned count) {
  std::vector<std::string> all;
  for (unsigned number = 0; number < count; ++number) {
    all.push_back(engine::testing::read_file(engine::testing::circuit_folder("bn128", "demo") /
                                             ("witness." + std::to_string(number % 10) + ".wtns")));
  }
  return all;
}

std::string text_of(const ApiAnswer& answer, const char* member) {
  const boost::json::value document = boost::json::parse(answer.body);
  return std::string(document.at(member).as_string());
}

// A client that asks for one job after the other, each under a name of its own, and asks again
// when it gets no answer. It asserts nothing itself: assertions belong to the test's thread.
class StubbornClient {
 public:
  StubbornClient(std::filesystem::path socket, std::string name)
      : socket_(std::move(socket)), name_(std::move(name)), thread_([this] { run(); }) {}
  // A test that has failed has no engine any more that could answer.
  ~StubbornClient() {
    has_given_up_ = true;
    stop();
  }
  // When the job in hand has been accepted.
  void stop() {
    is_stopping_ = true;
    if (thread_.joinable()) thread_.join();
  }

  struct Accepted {
    std::string job;
    std::string result;  // as it was delivered, when it was
  };
  // To be read when it has stopped, by request id.
  std::map<std::string, Accepted> accepted;
  std::vector<std::string> faults;

 private:
  static constexpr std::size_t kAhead = 4;  // jobs that it does not wait for

  void run() {
    std::vector<std::string> order;
    while (!is_stopping_) {
      const std::string request = name_ + "-" + std::to_string(order.size());
      submit(request, 1 + order.size() % 3);
      order.push_back(request);
      if (order.size() > kAhead) fetch(accepted[order[order.size() - kAhead]]);
    }
  }

  void submit(const std::string& request, std::size_t partitions) {
    const std::string target = "/v1/jobs?circuit=demo&request_id=" + request;
    while (!has_given_up_) {
      const ApiAnswer answer = ask([&](const ApiClient& client) {
        return client.post_form(target, witnesses(static_cast<unsigned>(partitions)));
      });
      if (answer.status == 200 || answer.status == 202) {
        accepted[request].job = text_of(answer, "job");
        return;
      }
      const bool is_passing = answer.status == 0 || answer.status == 429 || answer.status == 503;
      if (!is_passing) return faults.push_back(request + ": " + answer.body);
    }
  }

  // The result, if it is there before the engine goes away.
  void fetch(Accepted& job) {
    const ApiAnswer end = ask(
        [&](const ApiClient& client) { return client.get("/v1/jobs/" + job.job + "?wait=5s"); });
    if (end.status != 200) return note_unless_gone(end, job);
    if (text_of(end, "state") != "done") return;
    const ApiAnswer result =
        ask([&](const ApiClient& client) { return client.get("/v1/jobs/" + job.job + "/proof"); });
    if (result.status != 200) return note_unless_gone(result, job);
    job.result = result.body;
  }

  void note_unless_gone(const ApiAnswer& answer, const Accepted& job) {
    if (answer.status != 0) faults.push_back(job.job + ": " + answer.body);
  }

  // Status 0 when the engine is not there, or went away with half an answer.
  template <class Ask>
  ApiAnswer ask(Ask&& ask) {
    try {
      ApiAnswer answer = ask(ApiClient(socket_));
      const std::string length = answer.header("Content-Length");
      if (!length.empty() && answer.body.size() == std::stoull(length)) return answer;
    } catch (const std::runtime_error&) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return {};
  }

  std::filesystem::path socket_;
  std::string name_;
  std::atomic<bool> is_stopping_{false};
  std::atomic<bool> has_given_up_{false};
  std::thread thread_;  // last: it uses the others
};

void check_last_state(const Site& site) {
  auto reader = shm::SegmentReader::attach(site.segment());
  REQUIRE(reader.has_value());
  CHECK_FALSE(reader->liveness().lock_held);
  shm::Snapshot last;
  REQUIRE(reader->snapshot(last).has_value());
  REQUIRE(last.consistent);
  for (const std::string& violation : shm::check_invariants(last, nullptr)) FAIL_CHECK(violation);
  std::filesystem::remove_all(site.segment().string() + ".dead");
}

std::filesystem::path store_of(const Site& site) { return site.scratch / "vitrine/system/jobs.db"; }

std::string stored_value(const Site& site, const char* sql) {
  using engine::SqliteDatabase;
  return SqliteDatabase::open(store_of(site), SqliteDatabase::Access::kWrite)
      .value()
      .value(sql)
      .value();
}

std::size_t spooled_files(const Site& site) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(site.spool())) {
    files += entry.path().extension() == ".wtns";
  }
  return files;
}

// As many kills as VITRINE_TEST_KILLS says (five by default); after each fourth, an end by
// SIGTERM that does not wait.
TEST_CASE(
    "of jobs submitted to an engine that is killed again and again none is lost or done twice",
    "[E9]") {
  const char* asked = std::getenv("VITRINE_TEST_KILLS");
  const int kills = asked == nullptr ? 5 : std::atoi(asked);
  const Site site;
  std::mt19937 random(static_cast<unsigned>(::getpid()));
  std::uniform_int_distribution<int> life_ms(0, 1000);
  shm::Attachment attachment(shm::Target{.path = site.segment()});  // throughout
  StubbornClient clients[] = {{site.socket(), "a"}, {site.socket(), "b"}, {site.socket(), "c"}};
  for (int kill = 0; kill < kills; ++kill) {
    INFO("kill " << kill);
    for (const bool is_gentle : {true, false}) {
      if (is_gentle && kill % 4 != 3) continue;
      RunningDaemon daemon(site, {"--drain-timeout", "10ms", "--job-attempts", "0"});
      std::this_thread::sleep_for(std::chrono::milliseconds(life_ms(random)));
      CHECK(shm::is_alive(attachment.observe().verdict.word));
      daemon.signal(is_gentle ? SIGTERM : SIGKILL);
      CHECK(daemon.exit_code() == (is_gentle ? 0 : 128 + SIGKILL));
      CHECK(attachment.observe().verdict.word ==
            (is_gentle ? shm::VerdictWord::kExited : shm::VerdictWord::kDead));
      CHECK(attachment.last().snapshot.has_value());
      check_last_state(site);
    }
  }
  RunningDaemon daemon(site, {"--job-attempts", "0"});
  std::size_t jobs = 0;
  std::size_t delivered = 0;
  for (StubbornClient& client : clients) {
    client.stop();
    for (const std::string& fault : client.faults) FAIL_CHECK(fault);
    for (const auto& [request, accepted] : client.accepted) {
      INFO(request << " is job " << accepted.job);
      ++jobs;
      delivered += !accepted.result.empty();
      CHECK(final_state(site, accepted.job) == "done");
      const ApiAnswer result = ApiClient(site.socket()).get("/v1/jobs/" + accepted.job + "/proof");
      CHECK(result.status == 200);
      // Each proof is blinded anew, so a job that was done twice shows.
      if (!accepted.result.empty()) CHECK(result.body == accepted.result);
    }
  }
  CHECK(jobs > 0);
  wait_until(daemon, [&] { return spooled_files(site) == 0; });
  daemon.signal(SIGTERM);
  CHECK(daemon.exit_code() == 0);
  CHECK(stored_value(site, "SELECT count(*) FROM job") == std::to_string(jobs));
  CHECK(stored_value(site, "SELECT count(DISTINCT request) FROM job") == std::to_string(jobs));
  CHECK(stored_value(site, "SELECT count(*) FROM witness") == "0");
  if (asked != nullptr) {
    WARN(kills << " kills: " << jobs << " jobs, all done; " << delivered
               << " delivered while engines died; most attempts "
               << stored_value(site, "SELECT max(attempt) FROM job") << ", resumed "
               << stored_value(site, "SELECT count(*) FROM job WHERE attempt > 1"));
  }
}

TEST_CASE("a job at which three engines died is lost and says so, one that waited is done",
          "[E9]") {
  const Site site;
  // A batch holds what is not critical.
  const std::vector<std::string> holding = {"--max-batch-size", "2", "--max-batch-wait", "1h"};
  std::string fatal, waiting;
  for (int death = 0; death < 3; ++death) {
    INFO("death " << death);
    RunningDaemon daemon(site, holding);
    if (death == 0) {
      const ApiClient client(site.socket());
      waiting = text_of(client.post_form("/v1/jobs?circuit=demo", witnesses(1)), "job");
      fatal = text_of(client.post_form("/v1/jobs?circuit=demo&priority=critical", witnesses(256)),
                      "job");
    }
    wait_until(daemon,
               [&] { return stored_value(site, "SELECT sum(is_running) FROM run") == "1"; });
    CHECK(ApiClient(site.socket()).get("/v1/jobs/" + waiting).status == 200);
    daemon.signal(SIGKILL);
    CHECK(daemon.exit_code() == 128 + SIGKILL);
    check_last_state(site);
  }
  RunningDaemon daemon(site);
  CHECK(final_state(site, fatal) == "lost");
  const ApiAnswer lost = ApiClient(site.socket()).get("/v1/jobs/" + fatal);
  CHECK_THAT(lost.body, Contains("its engine died 3 times while it ran"));
  CHECK(final_state(site, waiting) == "done");
  CHECK(stored_value(site, "SELECT count(*) FROM run") == "0");
  wait_until(daemon, [&] { return spooled_files(site) == 0; });
}

TEST_CASE("a client is answered 200 with the first job when it asks for the same again") {
  const Site site;
  RunningDaemon daemon(site);
  const ApiClient client(site.socket());
  const auto ask = [&](unsigned partitions) {
    return client.post_form("/v1/jobs?circuit=demo&request_id=mine", witnesses(partitions));
  };
  const ApiAnswer first = ask(2);
  CHECK(first.status == 202);
  const ApiAnswer again = ask(2);
  CHECK(again.status == 200);
  CHECK(again.header("Location") == first.header("Location"));
  CHECK(text_of(again, "job") == text_of(first, "job"));
  const ApiAnswer conflict = ask(1);
  CHECK(conflict.status == 409);
  CHECK_THAT(text_of(conflict, "detail"), Contains(text_of(first, "job")));
  CHECK(final_state(site, text_of(first, "job")) == "done");
  CHECK(ask(2).status == 200);
}

TEST_CASE("without durability nothing is stored, and a killed engine's jobs are unknown") {
  const Site site;
  std::string job;
  {
    RunningDaemon daemon(site, {"--durability", "none"});
    job = submit(site, 64);
    daemon.signal(SIGKILL);
    daemon.exit_code();
  }
  CHECK_FALSE(std::filesystem::exists(store_of(site)));
  CHECK(spooled_files(site) > 0);
  RunningDaemon daemon(site, {"--durability", "none"});
  CHECK(spooled_files(site) == 0);
  CHECK(ApiClient(site.socket()).get("/v1/jobs/" + job).status == 404);
}

TEST_CASE("an engine whose job store is not good does not start, and leaves it alone") {
  const Site site;
  std::filesystem::create_directories(store_of(site).parent_path());
  std::ofstream(store_of(site)) << "no database, but somebody's";
  DaemonProcess daemon(site.arguments(), site.scratch / "bad.log");
  CHECK(daemon.exit_code() == 1);
  CHECK_THAT(daemon.log(), Contains("job_store " + store_of(site).string()) &&
                               Contains("damaged") && Contains("nothing in it was changed"));
  CHECK(daemon.log().find('\n') == daemon.log().size() - 1);
  CHECK(engine::testing::read_file(store_of(site)) == "no database, but somebody's");
  CHECK_FALSE(std::filesystem::exists(site.segment()));
}

TEST_CASE("on a full disk new jobs are refused and running ones end") {
  const Site site;
  std::filesystem::create_directory(site.scratch / "disk");
  const SmallDisk disk(site.scratch / "disk");
  if (!disk.is_there()) {
    WARN("not tested: only root may mount a file system");
    return;
  }
  RunningDaemon daemon(site, {"--job-store", site.scratch / "disk/jobs.db"});
  const std::string running = submit(site, 40);
  disk.fill();
  ApiAnswer refused;
  wait_until(daemon, [&] {
    refused = ApiClient(site.socket()).post_form("/v1/jobs?circuit=demo", witnesses(200));
    return refused.status != 202;
  });
  CHECK(refused.status == 507);
  CHECK_THAT(text_of(refused, "detail"), Contains("the job store") && Contains("full"));
  snapshot_when(daemon, site.segment(),
                [](const auto& now) { return now.life == shm::EngineLife::kDegraded; });
  CHECK(final_state(site, running) == "done");
  CHECK(ApiClient(site.socket()).get("/v1/jobs/" + running + "/proof").status == 200);
  disk.make_room();
  snapshot_when(daemon, site.segment(),
                [](const auto& now) { return now.life == shm::EngineLife::kReady; });
  CHECK_FALSE(submit(site, 1).empty());
}

}  // namespace
}  // namespace vitrine::system_test
