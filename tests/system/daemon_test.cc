// SPDX-License-Identifier: Apache-2.0
// vitrined as a process: proofs, deaths, starts, signals and bad input, seen from outside.
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>

#include "shm/attachment.h"
#include "shm/invariants.h"
#include "shm/segment_reader.h"
#include "tests/engine/container_bytes.h"
#include "tests/engine/engine_fixture.h"
#include "tests/engine/real_inputs.h"
#include "tests/system/daemon_process.h"

namespace vitrine::system_test {
namespace {

using Catch::Matchers::Contains;
using engine::testing::circuit_folder;
using engine::testing::SegmentWatch;
using shm::PartitionStage;

bool is_one_line(const std::string& text) {
  return text.size() > 1 && text.find('\n') == text.size() - 1;
}

std::uint64_t done_partitions(const shm::Snapshot& snapshot) {
  const auto& counters = snapshot.rows<shm::CountersRecord>();
  return counters.empty() ? 0 : counters[0].partitions_done;
}

std::size_t files_in(const std::filesystem::path& folder, const std::string& ending) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files += entry.path().extension() == ending;
  }
  return files;
}

TEST_CASE("ten partitions are proved while every snapshot keeps the invariants") {
  const Site site;
  RunningDaemon daemon(site);
  SegmentWatch watch(site.segment());
  const std::string job = submit(site, 10);
  CHECK(final_state(site, job) == "done");
  const ApiAnswer proofs = ApiClient(site.socket()).get("/v1/jobs/" + job + "/proof");
  CHECK(proofs.status == 200);
  const shm::Snapshot quiet = snapshot_when(
      daemon, site.segment(), [](const auto& now) { return shm::check_quiet(now).empty(); });
  CHECK(done_partitions(quiet) == 10);
  for (const std::string& violation : watch.stop()) FAIL_CHECK(violation);
  CHECK(watch.snapshots() > 0);
}

TEST_CASE("an engine killed in mid-proof leaves its last state, and the next one goes on", "[E9]") {
  const Site site;
  std::string killed_job;
  std::uint64_t last_commit = 0;
  {
    RunningDaemon daemon(site);
    killed_job = submit(site, 64);
    snapshot_when(daemon, site.segment(),
                  [](const auto& now) { return done_partitions(now) >= 3; });
    daemon.signal(SIGKILL);
    CHECK(daemon.exit_code() == 128 + SIGKILL);
  }
  {
    auto reader = shm::SegmentReader::attach(site.segment());
    REQUIRE(reader.has_value());
    CHECK_FALSE(reader->liveness().lock_held);
    shm::Snapshot last;
    REQUIRE(reader->snapshot(last).has_value());
    REQUIRE(last.consistent);
    CHECK(shm::check_invariants(last, nullptr).empty());
    const auto partitions = last.partitions_of({std::stoull(killed_job)});
    REQUIRE(partitions.size() == 64);
    CHECK(std::any_of(partitions.begin(), partitions.end(),
                      [](const auto& partition) { return !shm::is_final(partition.stage); }));
    last_commit = last.commit;
  }
  RunningDaemon next(site);
  CHECK(final_state(site, killed_job) == "done");
  const std::string job = submit(site, 2);
  CHECK(std::stoull(job) > std::stoull(killed_job));
  CHECK(final_state(site, job) == "done");
  CHECK(files_in(site.scratch.path(), ".dead") == 1);
  for (const auto& entry : std::filesystem::directory_iterator(site.scratch.path())) {
    if (entry.path().extension() != ".dead") continue;
    auto box = shm::SegmentReader::open_file(entry.path());
    REQUIRE(box.has_value());
    shm::Snapshot kept;
    REQUIRE(box->snapshot(kept).has_value());
    CHECK(kept.commit == last_commit);
  }
  CHECK(files_in(site.spool(), ".wtns") == 0);
}

TEST_CASE("a second engine of a live instance is refused and names the first") {
  const Site site;
  RunningDaemon first(site);
  DaemonProcess second(site.arguments(), site.scratch / "second.log");
  CHECK(second.exit_code() == 3);
  CHECK(is_one_line(second.log()));
  CHECK_THAT(second.log(), Contains("PID " + std::to_string(first.pid())) && Contains("uid"));
  CHECK(final_state(site, submit(site, 1)) == "done");
}

// As many times as VITRINE_START_RACES says (ten by default).
TEST_CASE("of two engines started at the same moment one lives and keeps its name", "[E16]") {
  const char* asked = std::getenv("VITRINE_START_RACES");
  const int races = asked == nullptr ? 10 : std::atoi(asked);
  const Site site;
  for (int race = 0; race < races; ++race) {
    INFO("race " << race);
    std::filesystem::remove(site.scratch / "log");
    DaemonProcess one(site.arguments(), site.scratch / "log");
    DaemonProcess other(site.arguments(), site.scratch / "log");
    while (one.is_running() && other.is_running()) ::usleep(500);
    DaemonProcess& loser = one.is_running() ? other : one;
    DaemonProcess& winner = one.is_running() ? one : other;
    CHECK(loser.exit_code() == 3);
    wait_until(winner, [&] {
      const auto reader = shm::SegmentReader::attach(site.segment());
      return reader.has_value() && reader->liveness().lock_held &&
             reader->identity().pid == static_cast<std::uint64_t>(winner.pid());
    });
    winner.signal(SIGKILL);
    winner.exit_code();
  }
}

TEST_CASE("SIGTERM lets the running job end, shows the drain and ends with 0") {
  const Site site;
  RunningDaemon daemon(site);
  auto reader = shm::SegmentReader::attach(site.segment());
  REQUIRE(reader.has_value());
  submit(site, 40);
  snapshot_when(daemon, site.segment(), [](const auto& now) { return done_partitions(now) >= 1; });
  daemon.signal(SIGTERM);
  CHECK(daemon.exit_code() == 0);
  shm::Snapshot last;
  REQUIRE(reader->snapshot(last).has_value());
  CHECK(last.life == shm::EngineLife::kClosed);
  CHECK(last.exit_code == 0);
  CHECK(done_partitions(last) == 40);
  CHECK_THAT(daemon.log(), Contains("draining") && Contains("closed"));
  CHECK_FALSE(std::filesystem::exists(site.socket()));
}

TEST_CASE("a second SIGTERM does not wait for the running job, which the next start takes up") {
  const Site site;
  RunningDaemon daemon(site, {"--drain-timeout", "10m"});
  auto reader = shm::SegmentReader::attach(site.segment());
  REQUIRE(reader.has_value());
  const std::string job = submit(site, 256);
  snapshot_when(daemon, site.segment(), [](const auto& now) { return done_partitions(now) >= 1; });
  daemon.signal(SIGTERM);
  snapshot_when(daemon, site.segment(),
                [](const auto& now) { return now.life == shm::EngineLife::kDraining; });
  daemon.signal(SIGINT);
  CHECK(daemon.exit_code() == 0);
  shm::Snapshot last;
  REQUIRE(reader->snapshot(last).has_value());
  CHECK(last.rows<shm::JobRecord>().at(0).state == shm::JobState::kQueued);
  CHECK(last.rows<shm::JobRecord>().at(0).failure.view().empty());
  CHECK(shm::check_invariants(last, nullptr).empty());
  CHECK_THAT(daemon.log(), Contains("stopping jobs: asked again: 1 job is not waited for") &&
                               Contains("jobs left for the next start: 1"));
  RunningDaemon next(site);
  const ApiAnswer resumed = ApiClient(site.socket()).get("/v1/jobs/" + job);
  REQUIRE(resumed.status == 200);
  CHECK(boost::json::parse(resumed.body).at("attempt").as_int64() == 2);
}

TEST_CASE("wrong arguments and configurations give one line and exit 2") {
  const Site site;
  const auto end_with = [&](const std::vector<std::string>& arguments, const std::string& text) {
    INFO(text);
    std::filesystem::remove(site.scratch / "usage.log");
    DaemonProcess daemon(arguments, site.scratch / "usage.log");
    CHECK(daemon.exit_code() == 2);
    CHECK(is_one_line(daemon.log()));
    CHECK_THAT(daemon.log(), Contains(text));
  };
  end_with({"--colour"}, "--colour");
  end_with({"--instance", "Not Good"}, "Not Good");
  end_with(site.arguments({"--check-config", "--print-config"}), "--check-config");
  end_with({"--config", "/absent.toml"}, "/absent.toml");
  end_with(site.arguments({"--drain-timeout", "25"}), "drain_timeout");
  end_with(site.arguments({"--shm-group", "no-such-group"}), "no-such-group");
  for (const std::string setting : {"--shm-group", "--socket-group"}) {
    end_with(site.arguments({setting, "no-such-group", "--check-config"}), "no-such-group");
  }
  end_with(site.arguments({"--memory-budget", "auto", "--memory-safety-margin", "1000000GiB",
                           "--check-config"}),
           "leaves nothing");
  end_with(site.arguments({"--memory-budget", "1MiB"}),
           "memory_budget = 1.0 MiB leaves nothing beside the ");
  end_with(site.arguments({"--threads", "2", "--cpu-devices", "3", "--check-config"}),
           "cpu_devices = 3 is more than the threads of the kernels, 2");
  end_with(site.arguments({"--circuit", "demo"}), "ID=FILE.zkey");
  std::ofstream(site.scratch / "bad.toml") << "[engine]\nmemory_budget = \"512G\"\n";
  end_with({"--config", site.scratch / "bad.toml"}, "bad.toml:2");
  std::ofstream(site.scratch / "bad.zkey") << "not a key";
  end_with(site.arguments(
               {"--circuit", "bad=" + (site.scratch / "bad.zkey").string(), "--check-config"}),
           "bad.zkey");
}

TEST_CASE("a GPU that is required and absent ends the start with 4 and the reason", "[E15]") {
  const Site site;
  const auto before = std::chrono::steady_clock::now();
  DaemonProcess daemon(site.arguments({"--require-gpu"}), site.scratch / "gpu.log");
  CHECK(daemon.exit_code() == 4);
  CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(2));
  CHECK(is_one_line(daemon.log()));
  CHECK_THAT(daemon.log(), Contains("GPU"));
}

TEST_CASE("hostile keys and witnesses fail their jobs and leave the engine alive") {
  const Site site;
  engine::testing::ContainerBytes key(circuit_folder("bn128", "demo") / "circuit.zkey");
  key.truncate(key.size() - 100);
  key.write(site.scratch / "short.zkey");
  RunningDaemon daemon(site, {"--circuit", "short=" + (site.scratch / "short.zkey").string()});
  const ApiClient client(site.socket());
  const std::string good =
      engine::testing::read_file(circuit_folder("bn128", "demo") / "witness.1.wtns");
  CHECK(client.post_form("/v1/prove?circuit=short", {good}).status == 422);
  const std::string foreign =
      engine::testing::read_file(circuit_folder("bls12381", "demo") / "witness.1.wtns");
  for (const std::string& bad : {std::string("x"), good.substr(0, good.size() / 2), foreign}) {
    CHECK(client.post_form("/v1/prove?circuit=demo", {bad}).status == 422);
  }
  CHECK(client.post_form("/v1/prove?circuit=demo", {good}).status == 200);
  CHECK(daemon.is_running());
}

TEST_CASE("circuits that cannot be proved are named at the start, and degrade the engine") {
  const Site site;
  const std::string fifo = site.scratch / "fifo.zkey";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  std::ofstream(site.scratch / "short.zkey") << "zkey";
  RunningDaemon daemon(site, {"--circuit", "none=/none.zkey", "--circuit", "pipe=" + fifo,
                              "--circuit", "short=" + (site.scratch / "short.zkey").string()});
  CHECK_THAT(daemon.log(),
             Contains("warning degraded: circuit none: /none.zkey: cannot be opened") &&
                 Contains("warning degraded: circuit pipe: " + fifo) &&
                 Contains("warning degraded: circuit short: ") &&
                 !Contains("degraded: circuit demo"));
  shm::Attachment attachment(shm::Target{.path = site.segment()});
  const shm::Verdict verdict = attachment.observe().verdict;
  CHECK(verdict.word == shm::VerdictWord::kDegraded);
  CHECK_THAT(verdict.reason,
             Contains("circuit none: none.zkey: cannot be opened") && Contains("; and 2 more"));
  CHECK(final_state(site, submit(site, 1)) == "done");
}

TEST_CASE(
    "a check of the configuration tells all that a start would complain about, line by line") {
  const Site site;
  const std::string raw = circuit_folder("bn128", "multiplier") / "circuit_0000.zkey";
  const std::string complaints[] = {"memory_budget = 1.0 KiB leaves nothing beside the ",
                                    "circuit raw: " + raw + ": section 2: gamma2 equals delta2",
                                    "circuit none: /none.zkey: cannot be opened", "no-such-group"};
  DaemonProcess check(
      site.arguments({"--circuit", "raw=" + raw, "--circuit", "none=/none.zkey", "--memory-budget",
                      "1KiB", "--shm-group", "no-such-group", "--check-config"}),
      site.scratch / "check.log");
  CHECK(check.exit_code() == 2);
  const std::string log = check.log();
  CHECK(std::count(log.begin(), log.end(), '\n') == 4);
  for (const std::string& complaint : complaints) CHECK_THAT(log, Contains(complaint));
}

TEST_CASE("a detail that is too long for the log ends with an ellipsis") {
  const Site site;
  RunningDaemon daemon(site, {"--circuit", "long=/" + std::string(2000, 'x')});
  CHECK_THAT(daemon.log(), Contains("circuit long: /xxx") && Contains("xxx\xE2\x80\xA6\n"));
}

TEST_CASE("a start finds a key without a contribution before a job asks for it") {
  const Site site;
  const std::string raw = circuit_folder("bn128", "multiplier") / "circuit_0000.zkey";
  RunningDaemon daemon(site, {"--circuit", "raw=" + raw});
  CHECK_THAT(daemon.log(), Contains("degraded: circuit raw: ") && Contains("gamma2 equals delta2"));
}

TEST_CASE("a check takes the keys that the configuration calls insecure") {
  const Site site;
  const std::string raw = circuit_folder("bn128", "multiplier") / "circuit_0000.zkey";
  std::ofstream(site.scratch / "raw.toml")
      << "[circuit.raw]\nzkey = \"" << raw << "\"\ninsecure = true\n";
  DaemonProcess check({"--config", site.scratch / "raw.toml", "--check-config"},
                      site.scratch / "check.log");
  CHECK(check.exit_code() == 0);
  CHECK_THAT(check.log(), Contains("the configuration is good: 1 circuit, "));
}

TEST_CASE("an engine without a circuit says so, checked or started") {
  const Site site;
  std::vector<std::string> arguments = site.arguments();
  arguments.resize(arguments.size() - 2);
  DaemonProcess started(arguments, site.scratch / "start.log");
  wait_until(started, [&] {
    return std::filesystem::exists(site.scratch / "start.log") &&
           started.log().find("warning no circuit is configured") != std::string::npos;
  });
  arguments.push_back("--check-config");
  DaemonProcess check(arguments, site.scratch / "check.log");
  CHECK(check.exit_code() == 0);
  CHECK_THAT(check.log(), Contains("no circuit is configured"));
}

TEST_CASE("the shown configuration names the places that the engine would use") {
  const Site site;
  DaemonProcess shown({"--config", site.scratch / "empty.toml", "--print-config"},
                      site.scratch / "shown.log");
  CHECK(shown.exit_code() == 0);
  CHECK_THAT(shown.log(), Contains("main.sock\"  # default") && Contains("spool\"  # default") &&
                              !Contains("segment = \"\"") &&
                              Contains("drain_timeout = \"25s\"  # default"));
}

TEST_CASE("an engine whose segment was removed publishes it again") {
  const bool is_degraded_before = GENERATE(false, true);
  const auto word = is_degraded_before ? shm::VerdictWord::kDegraded : shm::VerdictWord::kIdle;
  const Site site;
  std::vector<std::string> more;
  if (is_degraded_before) more = {"--backend", "cuda"};
  RunningDaemon daemon(site, more);
  shm::Attachment attachment(shm::Target{.path = site.segment()});
  const std::string incarnation = attachment.observe().identity.incarnation;
  std::filesystem::remove(site.segment());
  wait_until(daemon, [&] {
    return attachment.observe().attachments == 2 && attachment.last().verdict.word == word;
  });
  CHECK(attachment.last().identity.incarnation == incarnation);
  CHECK(final_state(site, submit(site, 1)) == "done");
  CHECK_THAT(daemon.log(), Contains("warning degraded: the segment's name was removed") &&
                               Contains("no longer degraded: the segment's name was removed"));
}

TEST_CASE("an engine whose segment was truncated lives and publishes it again") {
  const Site site;
  RunningDaemon daemon(site);
  shm::Attachment attachment(shm::Target{.path = site.segment()});
  REQUIRE(attachment.observe().verdict.word == shm::VerdictWord::kIdle);
  REQUIRE(::truncate(site.segment().c_str(), 8192) == 0);
  CHECK(final_state(site, submit(site, 2)) == "done");
  wait_until(daemon, [&] { return attachment.observe().attachments == 2; });
  wait_until(daemon, [&] {
    return attachment.observe().snapshot->engine().degraded_reason.view().empty();
  });
  CHECK(done_partitions(*attachment.last().snapshot) == 2);
  CHECK(shm::check_invariants(*attachment.last().snapshot, nullptr).empty());
}

TEST_CASE("every log line is one JSON document when that is asked for") {
  const Site site;
  std::string job;
  {
    RunningDaemon daemon(site, {"--log-format", "json", "--log-level", "debug"});
    job = submit(site, 2);
    CHECK(final_state(site, job) == "done");
    daemon.signal(SIGTERM);
    CHECK(daemon.exit_code() == 0);
  }
  std::ifstream log(site.scratch / "log");
  std::set<std::string> messages;
  for (std::string line; std::getline(log, line);) {
    INFO(line);
    const boost::json::object entry = boost::json::parse(line).as_object();
    messages.emplace(entry.at("message").as_string());
    if (entry.at("job").is_string()) CHECK(entry.at("job").as_string() == job);
  }
  for (const char* expected : {"ready", "job queued", "job running", "synthesis started",
                               "picked up", "partition done", "job done", "draining", "closed"}) {
    CHECK(messages.contains(expected));
  }
}

TEST_CASE("a log that nobody reads stops neither proofs nor the end") {
  const Site site;
  const std::filesystem::path log = site.scratch / "log";
  REQUIRE(::mkfifo(log.c_str(), 0600) == 0);
  const shm::FileDescriptor pipe(::open(log.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  REQUIRE(pipe.is_open());
  const std::string filling(4096, 'x');
  while (::write(pipe.number(), filling.data(), filling.size()) > 0) {
  }
  RunningDaemon daemon(site);
  CHECK(final_state(site, submit(site, 2)) == "done");
  daemon.signal(SIGTERM);
  CHECK(daemon.exit_code() == 0);
}

TEST_CASE("an engine that is started without standard streams writes into nothing of its own") {
  const Site site;
  {
    RunningDaemon daemon(site, {}, {"bash", "-c", R"(exec "$0" "$@" <&- >&- 2>&-)"});
    CHECK(final_state(site, submit(site, 1)) == "done");
    auto reader = shm::SegmentReader::attach(site.segment());
    CHECK(reader.has_value());
    daemon.signal(SIGTERM);
    CHECK(daemon.exit_code() == 0);
  }
  const RunningDaemon next(site);  // whose locks are whole
}

TEST_CASE("jobs leave no descriptor behind") {
  const Site site;
  RunningDaemon daemon(site);
  const auto descriptors = [&] {
    const auto folder = "/proc/" + std::to_string(daemon.pid()) + "/fd";
    return std::distance(std::filesystem::directory_iterator(folder), {});
  };
  CHECK(final_state(site, submit(site, 2)) == "done");
  // Connections are closed by the server a moment after the client has seen their end.
  const auto before = descriptors();
  for (int i = 0; i < 20; ++i) CHECK(final_state(site, submit(site, 2)) == "done");
  wait_until(daemon, [&] { return descriptors() <= before; });
}

}  // namespace
}  // namespace vitrine::system_test
