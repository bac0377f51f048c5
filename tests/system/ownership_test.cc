// SPDX-License-Identifier: Apache-2.0
// Of two vitrined that want the same thing the second is refused, and the first loses nothing.
#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>

#include "shm/paths.h"
#include "tests/system/daemon_process.h"

namespace vitrine::system_test {
namespace {

using Catch::Matchers::Contains;

struct Ending {
  int exit_code;
  std::string log;
};

Ending ending_of(const Site& site, const std::vector<std::string>& arguments) {
  std::filesystem::remove(site.scratch / "other.log");
  DaemonProcess daemon(arguments, site.scratch / "other.log");
  const int exit_code = daemon.exit_code();
  return {exit_code, daemon.log()};
}

std::vector<std::filesystem::path> black_boxes(const Site& site) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(site.scratch.path())) {
    if (entry.path().extension() == ".dead") found.push_back(entry.path());
  }
  return found;
}

TEST_CASE("an engine that wants what a live one has is refused, whatever it is") {
  const Site site;
  RunningDaemon first(site);
  const std::string pid = "PID " + std::to_string(first.pid());
  const std::filesystem::path place = site.scratch / "other";
  std::filesystem::create_directory(place);
  const std::vector<std::string> own = {"--segment", place / "s.segment", "--socket", place / "s"};
  const auto second = [&](std::vector<std::string> more) {
    return ending_of(site, site.arguments(std::move(more)));
  };
  SECTION("its instance") {
    const Ending ending = second({own[0], own[1], own[2], own[3], "--spool-directory", place});
    CHECK(ending.exit_code == 3);
    CHECK_THAT(ending.log, Contains("instance system") && Contains(pid));
  }
  SECTION("its instance, after a cleaner") {
    // Stopped, so that it cannot publish its segment again.
    first.signal(SIGSTOP);
    const auto lock = shm::lock_path_of(site.segment());
    for (const auto& paths : {std::vector{site.segment(), lock}, {site.instance_lock()}}) {
      for (const auto& path : paths) std::filesystem::remove(path);
      const Ending ending = second({});
      CHECK(ending.exit_code == 3);
      CHECK_THAT(ending.log, Contains(pid));
    }
    first.signal(SIGCONT);
  }
  SECTION("its socket") {
    std::filesystem::remove(shm::lock_path_of(site.socket()));
    const Ending ending =
        second({"--instance", "other", own[0], own[1], "--spool-directory", place / "spool"});
    CHECK(ending.exit_code == 3);
    CHECK_THAT(ending.log, Contains(site.socket().string()) && Contains(pid));
  }
  SECTION("its spool") {
    std::ofstream(site.spool() / "7.wtns") << "secret";
    const Ending ending = second({"--instance", "other", own[0], own[1], own[2], own[3]});
    CHECK(ending.exit_code == 3);
    CHECK_THAT(ending.log, Contains(site.spool().string()) && Contains(pid));
    CHECK(std::filesystem::exists(site.spool() / "7.wtns"));
  }
  SECTION("its segment") {
    const Ending ending =
        second({"--instance", "other", own[2], own[3], "--spool-directory", place / "spool"});
    CHECK(ending.exit_code == 3);
    CHECK_THAT(ending.log, Contains(site.segment().string()) && Contains(pid));
    CHECK_FALSE(std::filesystem::exists(own[3]));
  }
  CHECK(final_state(site, submit(site, 1)) == "done");
}

TEST_CASE("starts that are refused push out no black box") {
  const Site site;
  {
    RunningDaemon crashed(site);
    crashed.signal(SIGKILL);
    crashed.exit_code();
  }
  std::ofstream(site.scratch / "file") << "";
  const std::string file = site.scratch / "file";
  for (const auto& [flag, value] : {std::pair{"--socket", file},
                                    {"--socket", file + "/a.sock"},
                                    {"--socket-group", std::string("no-such-group")},
                                    {"--shm-group", std::string("no-such-group")},
                                    {"--spool-directory", file},
                                    {"--memory-safety-margin", std::string("1000000GiB")}}) {
    std::vector<std::string> arguments = {flag, value};
    if (std::string(flag) == "--memory-safety-margin") {
      arguments.insert(arguments.end(), {"--memory-budget", "auto"});
    }
    CHECK(ending_of(site, site.arguments(arguments)).exit_code == 2);
  }
  CHECK(black_boxes(site).empty());
  RunningDaemon next(site);
  CHECK(black_boxes(site).size() == 1);
}

}  // namespace
}  // namespace vitrine::system_test
