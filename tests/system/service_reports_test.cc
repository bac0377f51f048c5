// SPDX-License-Identifier: Apache-2.0
// vitrined under a service manager: a real socket that takes what a manager would.
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <thread>

#include "shm/file_descriptor.h"
#include "tests/engine/real_inputs.h"
#include "tests/system/daemon_process.h"

namespace vitrine::system_test {
namespace {

using Catch::Matchers::Contains;

constexpr int kPatienceMs = 30'000;

class Manager {
 public:
  explicit Manager(const std::filesystem::path& path)
      : path_(path), socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    REQUIRE(path.native().size() < sizeof(address.sun_path));
    std::strcpy(address.sun_path, path.c_str());
    REQUIRE(::bind(socket_.number(), reinterpret_cast<const sockaddr*>(&address),
                   sizeof(address)) == 0);
  }

  // Makes vitrined a service whose silence must not be longer than `watchdog_us`.
  std::vector<std::string> command(const std::string& watchdog_us) const {
    return {"/usr/bin/env", "NOTIFY_SOCKET=" + path_.string(), "WATCHDOG_USEC=" + watchdog_us};
  }

  // The next message; empty when none comes.
  std::string next() {
    pollfd ready{socket_.number(), POLLIN, 0};
    if (::poll(&ready, 1, kPatienceMs) != 1) return "";
    char bytes[512];
    const ssize_t count = ::recv(socket_.number(), bytes, sizeof(bytes), 0);
    return {bytes, static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
  }

  // Takes messages until one has `text`.
  std::string next_with(const std::string& text) {
    for (std::string message = next(); !message.empty(); message = next()) {
      if (message.find(text) != std::string::npos) return message;
    }
    return "";
  }

 private:
  std::filesystem::path path_;
  shm::FileDescriptor socket_;
};

TEST_CASE("a service manager hears that the engine is ready, what it does, and that it goes") {
  const Site site;
  Manager manager(site.scratch / "notify");
  RunningDaemon daemon(site, {}, manager.command("400000"));
  CHECK_THAT(manager.next(), Contains("READY=1"));
  CHECK(final_state(site, submit(site, 1)) == "done");
  CHECK_THAT(manager.next_with(" 1 done"),
             Contains("STATUS=ready; 0 running, 0 waiting, 1 done, 0 failed"));
  for (int i = 0; i < 3; ++i) CHECK(manager.next_with("WATCHDOG=1") == "WATCHDOG=1");
  daemon.signal(SIGTERM);
  CHECK_THAT(manager.next_with("STOPPING=1"), Contains("EXTEND_TIMEOUT_USEC="));
  CHECK(daemon.exit_code() == 0);
}

TEST_CASE("a service manager hears why an engine is degraded, and that it drains until it ends") {
  const Site site;
  Manager manager(site.scratch / "notify");
  const auto key = engine::testing::circuit_folder("bn128", "demo") / "circuit.zkey";
  const std::string file = site.scratch / "vitrine.toml";
  std::ofstream(file) << "[circuit.slow]\nzkey = '" << key.string() << "'\n"
                      << "witness_command = ['sh', '-c', 'sleep 600', '{input}', '{witness}']\n";
  RunningDaemon daemon(site, {"--config", file, "--circuit", "none=/nowhere/none.zkey"},
                       manager.command("400000"));
  CHECK_THAT(manager.next_with("STATUS="),
             Contains("STATUS=degraded: circuit none: none.zkey: cannot be opened") &&
                 Contains("; 0 running, 0 waiting"));
  const ApiClient client(site.socket());
  CHECK(client.post_form("/v1/jobs?circuit=slow", {"{}"}, "input").status == 202);
  CHECK_THAT(manager.next_with("1 running"), Contains("STATUS=degraded: "));
  daemon.signal(SIGTERM);
  CHECK_THAT(manager.next_with("STOPPING=1"), Contains("STATUS=draining"));
  CHECK_THAT(manager.next_with("STATUS="), Contains("STATUS=draining; 1 running, "));
  daemon.signal(SIGTERM);
  CHECK(daemon.exit_code() == 0);
}

TEST_CASE("each reload is told whole, whoever asks for it and however it ends") {
  const Site site;
  Manager manager(site.scratch / "notify");
  const std::string file = site.scratch / "vitrine.toml";
  std::ofstream{file};
  RunningDaemon daemon(site, {"--config", file}, manager.command("0"));
  CHECK(manager.next_with("READY=1") == "READY=1");
  const auto check_pair = [&] {
    CHECK_THAT(manager.next_with("=1"), Contains("RELOADING=1\nMONOTONIC_USEC="));
    CHECK(manager.next_with("=1") == "READY=1");
  };
  std::vector<std::thread> clients;
  for (int i = 0; i < 3; ++i) {
    clients.emplace_back(
        [&] { (void)ApiClient(site.socket()).send("POST", "/v1/reload", "", ""); });
  }
  for (int i = 0; i < 3; ++i) check_pair();
  for (std::thread& client : clients) client.join();
  daemon.signal(SIGHUP);
  check_pair();
  std::ofstream(file) << "no configuration";
  CHECK(ApiClient(site.socket()).send("POST", "/v1/reload", "", "").status == 422);
  check_pair();
}

TEST_CASE("a line that repeats is left out, counted and told") {
  const Site site;
  RunningDaemon daemon(site, {"--log-limit", "2"});
  std::vector<std::string> jobs;
  for (int i = 0; i < 6; ++i) jobs.push_back(submit(site, 1));
  for (const std::string& job : jobs) CHECK(final_state(site, job) == "done");
  daemon.signal(SIGTERM);
  CHECK(daemon.exit_code() == 0);
  const std::string log = daemon.log();
  INFO(log);
  CHECK_THAT(log, Contains(" warning log lines left out: ") && Contains("4 more of 'job queued'"));
  CHECK_THAT(log, Contains("draining"));
}

}  // namespace
}  // namespace vitrine::system_test
