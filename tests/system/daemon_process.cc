// SPDX-License-Identifier: Apache-2.0
#include "tests/system/daemon_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "shm/segment_reader.h"
#include "tests/engine/container_bytes.h"
#include "tests/engine/real_inputs.h"

namespace vitrine::system_test {
namespace {

constexpr auto kPatience = std::chrono::seconds(60);

[[noreturn]] void become(std::vector<std::string> words, const std::filesystem::path& log) {
  const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::dup2(file, STDERR_FILENO);
  ::dup2(file, STDOUT_FILENO);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that dies takes its engines along
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execvp(pointers[0], pointers.data());
  ::_exit(127);
}

// The engine listens a moment before it calls itself ready. False when it shows nothing.
bool shows_as_starting(const std::filesystem::path& segment) {
  auto reader = shm::SegmentReader::attach(segment);
  shm::Snapshot now;
  return reader && reader->snapshot(now) && now.life == shm::EngineLife::kStarting;
}

}  // namespace

Site::Site() {
  std::ofstream(scratch / "empty.toml") << "";
  // The instances of one test have nothing to do with those of others on this host.
  ::unsetenv("RUNTIME_DIRECTORY");
  ::setenv("XDG_RUNTIME_DIR", scratch.path().c_str(), 1);
  ::unsetenv("STATE_DIRECTORY");
  ::setenv("XDG_STATE_HOME", scratch.path().c_str(), 1);
}

std::vector<std::string> Site::arguments(const std::vector<std::string>& more) const {
  const auto key = engine::testing::circuit_folder("bn128", "demo") / "circuit.zkey";
  const std::pair<std::string, std::string> ours[] = {{"--config", scratch / "empty.toml"},
                                                      {"--instance", "system"},
                                                      {"--segment", segment()},
                                                      {"--socket", socket()},
                                                      {"--spool-directory", spool()},
                                                      {"--memory-budget", "256MiB"},
                                                      {"--circuit", "demo=" + key.string()}};
  std::vector<std::string> arguments = more;
  for (const auto& [flag, value] : ours) {
    if (flag != "--circuit" && std::find(more.begin(), more.end(), flag) != more.end()) continue;
    arguments.push_back(flag);
    arguments.push_back(value);
  }
  return arguments;
}

DaemonProcess::DaemonProcess(const std::vector<std::string>& arguments, std::filesystem::path log,
                             const std::vector<std::string>& command)
    : log_(std::move(log)) {
  std::vector<std::string> words = command;
  words.push_back(std::string(VITRINE_BIN) + "/vitrined");
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::ofstream(log_, std::ios::app);  // there to be read before the daemon has started
  pid_ = ::fork();
  if (pid_ == 0) become(words, log_);
  REQUIRE(pid_ > 0);
}

DaemonProcess::~DaemonProcess() {
  if (!is_running()) return;
  signal(SIGKILL);
  await_end(0);
}

void DaemonProcess::signal(int number) const { REQUIRE(::kill(pid_, number) == 0); }

void DaemonProcess::await_end(int wait_flags) {
  if (exit_code_ >= 0) return;
  int status = 0;
  if (::waitpid(pid_, &status, wait_flags) != pid_) return;
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int DaemonProcess::exit_code() {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (is_running() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  REQUIRE(exit_code_ >= 0);
  return exit_code_;
}

bool DaemonProcess::is_running() {
  await_end(WNOHANG);
  return exit_code_ < 0;
}

std::string DaemonProcess::log() const { return engine::testing::read_file(log_); }

RunningDaemon::RunningDaemon(const Site& site, const std::vector<std::string>& more,
                             const std::vector<std::string>& command)
    : DaemonProcess(site.arguments(more), site.scratch / "log", command) {
  wait_until(*this, [&] {
    try {
      return ApiClient(site.socket()).get("/v1/circuits").status == 200 &&
             !shows_as_starting(site.segment());
    } catch (const std::runtime_error&) {
      return false;  // it does not listen yet
    }
  });
}

void wait_until(DaemonProcess& daemon, const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (!daemon.is_running()) FAIL("the engine ended: " << daemon.log());
    if (std::chrono::steady_clock::now() > deadline) FAIL("waited in vain: " << daemon.log());
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

shm::Snapshot snapshot_when(DaemonProcess& daemon, const std::filesystem::path& segment,
                            const std::function<bool(const shm::Snapshot&)>& ready) {
  shm::Snapshot snapshot;
  wait_until(daemon, [&] {
    auto reader = shm::SegmentReader::attach(segment);
    return reader.has_value() && reader->snapshot(snapshot).has_value() && snapshot.consistent &&
           ready(snapshot);
  });
  return snapshot;
}

std::string submit(const Site& site, unsigned partitions) {
  std::vector<std::string> witnesses;
  for (unsigned number = 0; number < partitions; ++number) {
    witnesses.push_back(
        engine::testing::read_file(engine::testing::circuit_folder("bn128", "demo") /
                                   ("witness." + std::to_string(number % 10) + ".wtns")));
  }
  const ApiAnswer answer = ApiClient(site.socket()).post_form("/v1/jobs?circuit=demo", witnesses);
  REQUIRE(answer.status == 202);
  return boost::json::parse(answer.body).at("job").as_string().c_str();
}

std::string final_state(const Site& site, const std::string& job) {
  const ApiAnswer answer = ApiClient(site.socket()).get("/v1/jobs/" + job + "?wait=60s");
  REQUIRE(answer.status == 200);
  return boost::json::parse(answer.body).at("state").as_string().c_str();
}

}  // namespace vitrine::system_test
