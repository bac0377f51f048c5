// SPDX-License-Identifier: Apache-2.0
// What a signal that ends the engine leaves in the segment.
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "shm/attachment.h"
#include "tests/engine/engine_fixture.h"
#include "tests/system/daemon_process.h"

namespace vitrine::system_test {
namespace {

// The thread of the process that has this name.
pid_t thread_named(pid_t process, const std::string& name) {
  const std::filesystem::path tasks = "/proc/" + std::to_string(process) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks)) {
    std::ifstream file(task.path() / "comm");
    std::string found;
    std::getline(file, found);
    if (found == name) return std::stoi(task.path().filename().string());
  }
  FAIL("no thread is called " << name);
  std::abort();
}

shm::Observation last_look(const Site& site) {
  shm::Attachment attachment({.path = site.segment(), .file = {}, .options = {}, .places = {}});
  return attachment.observe();
}

}  // namespace

TEST_CASE("a worker struck down by a signal leaves its name, its job and the signal") {
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL}) {
    CAPTURE(signal);
    const Site site;
    RunningDaemon daemon(site, {"--workers-per-device", "1"});
    const std::string job = submit(site, 64);
    snapshot_when(daemon, site.segment(), [](const shm::Snapshot& now) {
      return now.rows<shm::WorkerRecord>().front().state == shm::WorkerState::kProving &&
             now.rows<shm::CountersRecord>().front().partitions_done > 0;
    });
    const pid_t worker = thread_named(daemon.pid(), "worker-0");
    REQUIRE(::syscall(SYS_tgkill, daemon.pid(), worker, signal) == 0);
    CHECK(daemon.exit_code() == 128 + signal);
    const shm::Observation look = last_look(site);
    REQUIRE(look.snapshot.has_value());
    const shm::LastWords& words = look.snapshot->last_words;
    CHECK(words.written == 1);
    CHECK(words.signal == static_cast<std::uint32_t>(signal));
    CHECK(words.thread.view() == "worker-0");
    CHECK(words.time.is_set());
    // Between two partitions it has none in hand.
    CHECK((words.job == shm::Id{std::stoull(job)} || words.job == shm::Id{}));
    CHECK(look.verdict.word == shm::VerdictWord::kDead);
    CHECK_THAT(look.verdict.reason, Catch::Contains("struck by signal " + std::to_string(signal) +
                                                    " in thread worker-0"));
  }
}

TEST_CASE("an engine that was asked to end shows the signal that asked") {
  const Site site;
  RunningDaemon daemon(site);
  daemon.signal(SIGTERM);
  CHECK(daemon.exit_code() == 0);
  const shm::Observation look = last_look(site);
  CHECK(look.snapshot->last_signal == SIGTERM);
  CHECK(look.snapshot->last_words.written == 0);
  CHECK_THAT(look.verdict.reason, Catch::Contains("after signal 15"));
}

}  // namespace vitrine::system_test
