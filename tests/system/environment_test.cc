// SPDX-License-Identifier: Apache-2.0
// Engines and readers that do not share all of a host: other namespaces, clocks and zones, PIDs
// that were given away, names that lead elsewhere, file systems without room.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "shm/attachment.h"
#include "shm/clock.h"
#include "shm/layout.h"
#include "shm/segment_access.h"
#include "shm/time_text.h"
#include "tests/engine/container_bytes.h"
#include "tests/system/daemon_process.h"
#include "tests/tools/program_run.h"

namespace vitrine::system_test {
namespace {

using Catch::Matchers::Contains;
using shm::VerdictWord;
using tests::ProgramRun;
using tests::run_vitrine;
using Words = std::vector<std::string>;

// The words that run a program with these flags of unshare, as its child; empty when this host
// does not allow that.
Words unshared(const std::string& flags) {
  const std::string words = "unshare -r --kill-child -f " + flags;
  if (std::system((words + " true 2>/dev/null").c_str()) != 0) return {};
  return {"sh", "-c", "exec " + words + " \"$@\"", "sh"};
}

// The one child of a process: the engine, when unshare is the process.
pid_t child_of(pid_t parent) {
  const std::string path = "/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent);
  pid_t child = 0;
  std::ifstream(path + "/children") >> child;
  REQUIRE(child > 0);
  return child;
}

ProgramRun vitrine_on(const std::filesystem::path& segment, Words words) {
  words.insert(words.end(), {"--segment", segment.string()});
  return run_vitrine(words);
}

boost::json::object snapshot_on(const std::filesystem::path& segment) {
  const ProgramRun run = vitrine_on(segment, {"show", "--json"});
  INFO(run.error);
  return boost::json::parse(run.output).as_object();
}

shm::Verdict verdict_on(const std::filesystem::path& segment) {
  shm::Attachment attachment(shm::Target{.path = segment});
  return attachment.observe_settled().verdict;
}

// What an engine that was killed in the middle of nothing leaves.
void leave_dead_segment(const Site& site) {
  RunningDaemon daemon(site);
  daemon.signal(SIGKILL);
  REQUIRE(daemon.exit_code() == 128 + SIGKILL);
}

template <class Value>
void overwrite(const std::filesystem::path& path, std::size_t offset_bytes, Value value) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(offset_bytes));
  file.write(reinterpret_cast<const char*>(&value), sizeof(value));
  REQUIRE(file.good());
}

void check_refused(const ProgramRun& run, const std::string& rule) {
  INFO(run.error);
  CHECK(run.exit_code == 5);
  CHECK(run.output.empty());
  CHECK(run.error_is_one_line());
  CHECK_THAT(run.error, Contains(rule));
}

// Every instant of a document and its name in it.
void collect_times(const boost::json::value& value, const std::string& name,
                   std::map<std::string, std::string>& times) {
  if (const auto* object = value.if_object()) {
    for (const auto& member : *object) {
      collect_times(member.value(), name + "." + std::string(member.key()), times);
    }
  } else if (const auto* array = value.if_array()) {
    for (std::size_t i = 0; i < array->size(); ++i) {
      collect_times(array->at(i), name + "." + std::to_string(i), times);
    }
  } else if (value.is_string() && name.ends_with("_time")) {
    times[name] = value.as_string().c_str();
  }
}

std::map<std::string, std::string> times_with_zone(const Site& site, const std::string& zone) {
  const ProgramRun run = run_vitrine({"show", "--json", "--file", site.segment()}, {"TZ=" + zone});
  INFO(run.error);
  std::map<std::string, std::string> times;
  collect_times(boost::json::parse(run.output), "", times);
  return times;
}

}  // namespace

TEST_CASE("an engine in another PID namespace is alive, then dead, and its successor starts",
          "[E16]") {
  const Words command = unshared("-p");
  if (command.empty()) {
    WARN("not tested: this host allows no PID namespaces");
    return;
  }
  const Site site;
  {
    RunningDaemon daemon(site, {}, command);
    const auto snapshot = snapshot_on(site.segment());
    const auto& engine = snapshot.at("engine").as_object();
    CHECK(engine.at("pid").to_number<int>() == 1);  // its PID there; here it is another process's
    CHECK(engine.at("verdict") == "idle");
    CHECK(engine.at("lock_held") == true);
    CHECK(vitrine_on(site.segment(), {"show"}).exit_code == 0);
    REQUIRE(::kill(child_of(daemon.pid()), SIGKILL) == 0);
    CHECK(daemon.exit_code() != 0);
    CHECK(verdict_on(site.segment()).word == VerdictWord::kDead);
    CHECK_THAT(verdict_on(site.segment()).reason,
               Contains("process 1 (of another PID namespace) on"));
    CHECK(vitrine_on(site.segment(), {"show"}).exit_code == 4);
  }
  RunningDaemon successor(site);
  CHECK(verdict_on(site.segment()).word == VerdictWord::kIdle);
}

TEST_CASE("ages and times are right across time namespaces, also of an engine that died") {
  const int offset_s = GENERATE(100'000, -600);
  const Words command =
      unshared("-T --monotonic " + std::to_string(offset_s) + " --boottime 200000");
  if (command.empty()) {
    WARN("not tested: this host allows no time namespaces, or not with this offset");
    return;
  }
  const Site site;
  const auto before = shm::unix_ns();
  const auto check_ages = [&](const boost::json::object& snapshot) {
    const auto& engine = snapshot.at("engine").as_object();
    const double most_seconds = 1 + static_cast<double>(shm::unix_ns() - before) / 1e9;
    for (const char* age : {"started_age_seconds", "heartbeat_age_seconds"}) {
      CAPTURE(offset_s, age);
      CHECK(engine.at(age).to_number<double>() >= 0);
      CHECK(engine.at(age).to_number<double>() <= most_seconds);
    }
    const std::string started = engine.at("started_time").as_string().c_str();
    CHECK(started >= shm::rfc3339_ms(before - 1'000'000'000));
    CHECK(started <= shm::rfc3339_ms(shm::unix_ns() + 1'000'000'000));
  };
  RunningDaemon daemon(site, {}, command);
  CHECK(verdict_on(site.segment()).word == VerdictWord::kIdle);
  check_ages(snapshot_on(site.segment()));
  // A reader that was not there while it lived cannot see that its clock was behind.
  if (offset_s < 0) return;
  REQUIRE(::kill(child_of(daemon.pid()), SIGKILL) == 0);
  CHECK(daemon.exit_code() != 0);
  const auto dead = snapshot_on(site.segment());
  CHECK(dead.at("engine").as_object().at("verdict") == "dead");
  check_ages(dead);
}

TEST_CASE("an engine that stands in another time namespace is hung") {
  const Words command = unshared("-T --monotonic 100000 --boottime 200000");
  if (command.empty()) {
    WARN("not tested: this host allows no time namespaces");
    return;
  }
  const Site site;
  RunningDaemon daemon(site, {}, command);
  shm::Attachment attachment(shm::Target{.path = site.segment()});
  CHECK(attachment.observe().verdict.word == VerdictWord::kIdle);
  const pid_t engine = child_of(daemon.pid());
  REQUIRE(::kill(engine, SIGSTOP) == 0);
  wait_until(daemon, [&] { return attachment.observe().verdict.word == VerdictWord::kHung; });
  REQUIRE(::kill(engine, SIGCONT) == 0);
  wait_until(daemon, [&] { return attachment.observe().verdict.word == VerdictWord::kIdle; });
}

TEST_CASE("a dead engine whose PID was given to a living process is dead", "[E16]") {
  const Site site;
  leave_dead_segment(site);
  std::ifstream self("/proc/self/stat");
  const std::string stat{std::istreambuf_iterator<char>(self), {}};
  std::istringstream after_name(stat.substr(stat.rfind(')') + 1));
  std::string start_ticks;
  for (int field = 3; field <= 22; ++field) after_name >> start_ticks;
  overwrite(site.segment(), offsetof(shm::Header, pid), std::uint64_t(::getpid()));
  // Not even one that started at the same tick.
  overwrite(site.segment(), offsetof(shm::Header, process_start_ticks),
            std::uint64_t{std::stoull(start_ticks)});
  CHECK(verdict_on(site.segment()).word == VerdictWord::kDead);
  CHECK(vitrine_on(site.segment(), {"show"}).exit_code == 4);
  RunningDaemon successor(site);
  CHECK(verdict_on(site.segment()).word == VerdictWord::kIdle);
}

TEST_CASE("times are UTC, whatever zone a reader is in", "[E21]") {
  const Site site;
  leave_dead_segment(site);
  const auto expected = times_with_zone(site, "UTC");
  CHECK(expected.size() >= 2);
  for (const auto& [name, time] : expected) {
    CAPTURE(name, time);
    CHECK(time.ends_with("Z"));
  }
  for (const std::string zone :
       {"Asia/Shanghai", "Asia/Kathmandu", "right/UTC", "", "XXX-25:99", ":/etc/passwd",
        "/dev/zero", "America/New_York,M3.2.0,M11.1.0", "\x1b[2J"}) {
    CAPTURE(zone);
    CHECK(times_with_zone(site, zone) == expected);
  }
}

TEST_CASE("links, layouts of other times and cut files are refused by name: 5", "[E16]") {
  const Site site;
  leave_dead_segment(site);
  const auto copy = site.scratch / "copy.segment";
  const auto show = [&] { return vitrine_on(copy, {"show"}); };
  std::filesystem::create_symlink(site.segment(), copy);
  check_refused(show(), "is a symbolic link");
  std::filesystem::remove(copy);
  std::filesystem::create_hard_link(site.segment(), copy);
  check_refused(show(), "has 2 names; a segment has one");
  std::filesystem::remove(copy);
  std::filesystem::copy_file(site.segment(), copy);
  CHECK(show().exit_code == 4);
  overwrite(copy, offsetof(shm::FixedHeader, major), std::uint16_t{shm::kMajorVersion + 1});
  check_refused(show(), "the program is older: upgrade it");
  overwrite(copy, offsetof(shm::FixedHeader, major), std::uint16_t{0});
  check_refused(show(), "the engine is older: upgrade it");
  overwrite(copy, offsetof(shm::FixedHeader, major), shm::kMajorVersion);
  overwrite(copy, offsetof(shm::FixedHeader, minor), std::uint16_t{999});
  CHECK(show().exit_code == 4);
  overwrite(copy, offsetof(shm::FixedHeader, required_features), std::uint64_t{1} << 63);
  check_refused(show(), "the program is older: upgrade it");
  overwrite(copy, offsetof(shm::FixedHeader, required_features), std::uint64_t{0});
  std::filesystem::resize_file(copy, std::filesystem::file_size(copy) / 2);
  check_refused(show(), "bytes long but says");
}

TEST_CASE("no text of a header reaches a terminal or a document as it is") {
  const Site site;
  leave_dead_segment(site);
  const std::pair<std::size_t, std::size_t> texts[] = {
      {offsetof(shm::Header, host), sizeof(shm::Header::host)},
      {offsetof(shm::Header, engine_version), sizeof(shm::Header::engine_version)},
      {offsetof(shm::Header, instance), sizeof(shm::Header::instance)},
      {offsetof(shm::Header, api_socket_path), sizeof(shm::Header::api_socket_path)}};
  const std::string hostile = "\x1b]0;x\a\x1b[2J\r\n\x7f\xff\xc2\x9b\xe2\x80\xae";
  for (const auto& [offset, size] : texts) {
    for (std::size_t i = 0; i < size; ++i) {
      overwrite(site.segment(), offset + i, hostile[i % hostile.size()]);
    }
  }
  for (const std::string command : {"show", "ls", "jobs", "workers", "memory", "events"}) {
    for (const std::string locale : {"C", "C.UTF-8"}) {
      const ProgramRun run =
          run_vitrine({command, "--segment", site.segment()}, {"LC_ALL=" + locale});
      INFO(command << ": " << run.output << run.error);
      CHECK(run.exit_code == 4);
      for (const std::string& text : {run.output, run.error}) {
        CHECK(std::ranges::none_of(text, [](char c) { return c != '\n' && c >= 0 && c < ' '; }));
        CHECK(text.find("\x7f") == text.npos);
        CHECK(text.find("\xc2\x9b") == text.npos);      // a control of one byte, in UTF-8
        CHECK(text.find("\xe2\x80\xae") == text.npos);  // turns the direction of writing
        CHECK(text.find("\xff") == text.npos);
      }
    }
  }
  CHECK(snapshot_on(site.segment()).contains("engine"));
}

TEST_CASE("an engine without room for its segment says so once, and readers find no instance",
          "[E16]") {
  const Site site;
  const std::filesystem::path small = site.scratch / "small";
  std::filesystem::create_directory(small);
  if (std::system("unshare -rm true 2>/dev/null") != 0) {
    WARN("not tested: this host allows no mount namespaces");
    return;
  }
  const std::string mount = "mount -t tmpfs -o size=64k none " + small.string() + " && exec \"$@\"";
  const auto segment = small / "system.segment";
  RunningDaemon daemon(site, {"--segment", segment.string()},
                       {"unshare", "-rm", "sh", "-c", mount, "sh"});
  CHECK(final_state(site, submit(site, 1)) == "done");
  const std::string log = daemon.log();
  const std::string line = "warning degraded: the status is not shared";
  const std::size_t at = log.find(line);
  REQUIRE(at != log.npos);
  CHECK(log.find(line, at + 1) == log.npos);
  CHECK_THAT(log.substr(at, log.find('\n', at) - at), Contains("no room"));
  // Within the engine's mounts the place is there, the segment is not.
  const ProgramRun run = tests::run_program(
      {"/usr/bin/nsenter", "--target", std::to_string(daemon.pid()), "--user", "--mount",
       "--preserve-credentials", VITRINE_BIN "/vitrine", "show", "--segment", segment.string()});
  INFO(run.error);
  CHECK(run.exit_code == 3);
  CHECK(run.error == "vitrine: " + segment.string() + ": no such segment\n");
}

TEST_CASE("an engine that publishes on a disk says that readers refuse that, and is degraded") {
  const Site site;
  const ScratchFolder on_disk;
  const shm::FileDescriptor folder(
      ::open(on_disk.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (shm::is_in_memory(folder)) {
    WARN("not tested: the folder for temporary files is in memory");
    return;
  }
  const auto segment = on_disk / "system.segment";
  RunningDaemon daemon(site, {"--segment", segment.string()});
  const std::string log = daemon.log();
  const std::string line = "warning degraded: " + segment.string() + ": is not in a tmpfs";
  const std::size_t at = log.find(line);
  INFO(log);
  REQUIRE(at != log.npos);
  CHECK(log.find(line, at + 1) == log.npos);
  CHECK(vitrine_on(segment, {"show"}).exit_code == 5);
  const ProgramRun trusting = vitrine_on(segment, {"show", "--any-filesystem"});
  CHECK(trusting.exit_code == 1);
  CHECK_THAT(trusting.output, Contains("degraded") && Contains("is not in a tmpfs"));
}

TEST_CASE("readers that are attached outlive a file that is cut, and follow the next segment",
          "[E16]") {
  const Site site;
  RunningDaemon daemon(site);
  const auto output = site.scratch / "events";
  std::ofstream{output};  // there to be read before the reader has started to write it
  // A reader process of its own, attached before the cut.
  const pid_t follower = ::fork();
  REQUIRE(follower >= 0);
  if (follower == 0) {
    if (std::freopen(output.c_str(), "w", stdout) == nullptr) ::_exit(126);
    ::execl(VITRINE_BIN "/vitrine", "vitrine", "events", "-f", "--for", "60s", "--json",
            "--segment", site.segment().c_str(), nullptr);
    ::_exit(127);
  }
  const auto has_told = [&](const std::string& text) {
    return engine::testing::read_file(output).find(text) != std::string::npos;
  };
  const std::string first = submit(site, 1);
  wait_until(daemon, [&] { return has_told("\"job\":\"" + first + "\""); });
  REQUIRE(::truncate(site.segment().c_str(), 4096) == 0);
  const std::string second = submit(site, 1);
  CHECK(final_state(site, second) == "done");
  wait_until(daemon, [&] { return has_told("\"job\":\"" + second + "\""); });
  REQUIRE(::kill(follower, SIGTERM) == 0);
  int status = 0;
  REQUIRE(::waitpid(follower, &status, 0) == follower);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

}  // namespace vitrine::system_test
