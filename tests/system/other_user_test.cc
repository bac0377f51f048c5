// SPDX-License-Identifier: Apache-2.0
// Readers of another user, by a supplementary group alone, on a segment of mode 0440.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <optional>

#include "tests/exporters/raw_client.h"
#include "tests/shm/child_process.h"
#include "tests/system/daemon_process.h"
#include "tests/tools/program_run.h"

namespace vitrine::system_test {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::Contains;
using tests::ProgramRun;

constexpr const char* kSetpriv = "/usr/bin/setpriv";
constexpr uid_t kOtherUser = 65534;
constexpr const char* kGroupName = "daemon";  // every Debian has it, as group 1
constexpr gid_t kGroup = 1;
const std::string kInGroup = "--groups=1";
const std::string kInNoGroup = "--clear-groups";

bool is_tested() {
  if (::geteuid() == 0 && fs::exists(kSetpriv)) return true;
  WARN("not tested: only root can become another user, with setpriv");
  return false;
}

// A place that everybody may enter, and the programs there: those that were built may lie where
// another user cannot go.
struct Place {
  Site site;
  ScratchFolder programs;

  Place() {
    for (const fs::path& folder : {site.scratch.path(), programs.path()}) {
      ::chmod(folder.c_str(), 0755);
    }
    for (const std::string name : {"vitrine", "vitrine-http"}) {
      fs::copy_file(fs::path(VITRINE_BIN) / name, programs / name);
    }
  }

  // The words that run a program as the other user; `groups` is an argument of setpriv.
  std::vector<std::string> as_other(const std::string& groups, const std::string& program,
                                    const std::vector<std::string>& arguments) const {
    const std::string user = std::to_string(kOtherUser);
    std::vector<std::string> words = {kSetpriv, "--reuid=" + user, "--regid=" + user, groups,
                                      programs / program};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return words;
  }
  ProgramRun run(const std::string& groups, const std::vector<std::string>& arguments) const {
    return tests::run_program(as_other(groups, "vitrine", arguments), {"LC_ALL=C"});
  }
};

// vitrine-http as the other user, on a socket of its own; the constructor returns when it listens.
class OtherUsersPage {
 public:
  OtherUsersPage(const Place& place, const std::string& groups)
      : socket_(place.site.scratch / "page/socket") {
    fs::create_directory(socket_.parent_path());
    REQUIRE(::chown(socket_.parent_path().c_str(), kOtherUser, kOtherUser) == 0);
    int output[2];
    REQUIRE(::pipe2(output, O_CLOEXEC) == 0);
    std::vector<std::string> words =
        place.as_other(groups, "vitrine-http",
                       {"--listen", "unix:" + socket_.string(), "--segment", place.site.segment()});
    process_.emplace([&] {
      ::dup2(output[1], STDOUT_FILENO);
      std::vector<char*> pointers;
      for (std::string& word : words) pointers.push_back(word.data());
      pointers.push_back(nullptr);
      ::execv(pointers[0], pointers.data());
      return 127;
    });
    ::close(output[1]);
    char byte = 0;
    while (::read(output[0], &byte, 1) == 1 && byte != '\n') {
    }
    ::close(output[0]);
    REQUIRE(byte == '\n');
  }

  exporters::testing::RawAnswer ask(const std::string& path) const {
    return exporters::testing::RawClient(socket_.string())
        .ask(exporters::testing::get_request(path));
  }

 private:
  fs::path socket_;
  std::optional<shm::testing::ChildProcess> process_;
};

std::vector<std::vector<std::string>> status_commands(const fs::path& segment) {
  std::vector<std::vector<std::string>> commands;
  for (const std::string name : {"ls", "show", "jobs", "workers", "memory", "events"}) {
    commands.push_back({name, "--segment", segment});
  }
  return commands;
}

}  // namespace

TEST_CASE("every tool of another user works on a segment of mode 0440 that its group may read") {
  if (!is_tested()) return;
  const Place place;
  RunningDaemon engine(place.site, {"--shm-mode", "0440", "--shm-group", kGroupName});
  REQUIRE(final_state(place.site, submit(place.site, 2)) == "done");
  const fs::path segment = place.site.segment();
  struct stat found {};
  REQUIRE(::stat(segment.c_str(), &found) == 0);
  REQUIRE((found.st_mode & 07777) == 0440);
  REQUIRE(found.st_gid == kGroup);

  for (const auto& command : status_commands(segment)) {
    INFO(command[0]);
    const ProgramRun run = place.run(kInGroup, command);
    INFO(run.output << run.error);
    CHECK(run.exit_code == 0);
    CHECK(run.error == "");
    CHECK_FALSE(run.output.empty());
    // The group alone opens it.
    const ProgramRun refused = place.run(kInNoGroup, command);
    INFO(refused.output << refused.error);
    CHECK(refused.exit_code == 5);
    CHECK_THAT(refused.output + refused.error, Contains("Permission denied"));
  }
  CHECK(OtherUsersPage(place, kInGroup).ask("/readyz").status == 200);
}

TEST_CASE("the page of a user who may not read the segment says so") {
  if (!is_tested()) return;
  const Place place;
  RunningDaemon engine(place.site, {"--shm-mode", "0440", "--shm-group", kGroupName});
  const OtherUsersPage page(place, kInNoGroup);
  CHECK(page.ask("/readyz").status == 503);
  CHECK_THAT(page.ask("/readyz").body, Contains("Permission denied"));
}

}  // namespace vitrine::system_test
