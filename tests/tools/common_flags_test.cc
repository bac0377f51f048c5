// SPDX-License-Identifier: Apache-2.0
// The flags that every command has: before a program of its own, with an empty value, twice.
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "shm/paths.h"
#include "tests/scratch_folder.h"
#include "tests/tools/program_run.h"
#include "tests/tools/test_engine.h"

using namespace vitrine;
using namespace vitrine::tests;
using Catch::Matchers::Contains;

TEST_CASE("common flags before a program of its own reach that program", "[external]") {
  const ScratchFolder scratch;
  const auto program = scratch / "vitrine-echo-words";
  std::ofstream(program) << "#!/bin/sh\nprintf '<%s>' \"$@\"\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const std::vector<std::string> path = {"PATH=" + scratch.path().string() + ":/usr/bin:/bin"};
  const ProgramRun run = run_vitrine({"--instance", "x", "--any-filesystem", "--log-level=debug",
                                      "echo-words", "--instance", "a b"},
                                     path);
  CHECK(run.exit_code == 0);
  CHECK(run.output == "<--instance><x><--any-filesystem><--log-level=debug><--instance><a b>");
  const ProgramRun report = run_vitrine({"--instance", "x", "report", "--help"});
  CHECK(report.exit_code == 0);
  CHECK_THAT(report.output, Contains("--out"));
}

TEST_CASE("the value of a common flag is no command, a built-in one stays built in", "[external]") {
  CHECK(run_vitrine({"--instance", "report"}).exit_code == 2);
  CHECK(run_vitrine({"--instance", "no-such-engine", "show"}).exit_code == 3);
  const ProgramRun unknown = run_vitrine({"--log-level", "off", "no-such-command"});
  CHECK(unknown.exit_code == 2);
  CHECK_THAT(unknown.error, Contains("no command 'no-such-command'"));
}

TEST_CASE("an empty path is bad usage, not the engine that is found by default: 2", "[program]") {
  for (const auto& words :
       std::vector<std::vector<std::string>>{{"show", "--file", ""},
                                             {"show", "--file="},
                                             {"jobs", "--segment", ""},
                                             {"ls", "--segment="},
                                             {"report", "--out", "x", "--file", ""},
                                             {"trace", "--out", "x", "--file", ""},
                                             {"diff", "", "x"}}) {
    const ProgramRun run = run_vitrine(words);
    INFO(words[0] << ": " << run.error);
    CHECK(run.exit_code == 2);
    CHECK(run.error_is_one_line());
    CHECK_THAT(run.error, Contains("empty") || Contains("missing"));
  }
  // Of the environment, empty means unset.
  CHECK(run_vitrine({"show", "--instance", "no-such-engine"}, {"VITRINE_SEGMENT="}).exit_code == 3);
}

TEST_CASE("one engine named twice, or one answer in two forms, is bad usage", "[program]") {
  const ProgramRun conform = run_vitrine({"conform", "a", "--instance", "b"});
  CHECK(conform.exit_code == 2);
  CHECK_THAT(conform.error, Contains("two engines"));
  CHECK(run_vitrine({"post-mortem", "a", "--segment", "/x"}).exit_code == 2);
  CHECK(run_vitrine({"conform", "no-such-engine"}, {"VITRINE_INSTANCE=b"}).exit_code == 3);
  const ProgramRun check = run_vitrine({"check", "--json", "--format", "nagios"});
  CHECK(check.exit_code == 3);
  CHECK_THAT(check.error, Contains("two forms"));
}

TEST_CASE("a name that begins with a dash is no instance's", "[program]") {
  const ProgramRun run = run_vitrine({"show", "--instance=-x"});
  CHECK(run.exit_code == 2);
  CHECK_THAT(run.error, Contains("is not an instance name"));
}

TEST_CASE("ls and gc keep to the instance that is named", "[ls][gc]") {
  const std::filesystem::path shared = "/dev/shm";
  const std::string mine = "t-mine-" + std::to_string(::getpid());
  const std::string other = "t-other-" + std::to_string(::getpid());
  for (const std::string& instance : {mine, other}) {
    const shm::SegmentWriter dead = publish_engine(shared, instance);
  }
  const auto path_of = [&](const std::string& instance) {
    return shm::segment_path_in(shared, instance);
  };
  const ProgramRun listed = run_vitrine({"ls", "--json", "--instance", mine});
  const auto document = boost::json::parse(listed.output);
  const auto& instances = document.at("instances").as_array();
  REQUIRE(instances.size() == 1);
  CHECK(instances[0].at("instance") == mine.c_str());
  CHECK(run_vitrine({"ls", "--instance", "t-none"}).exit_code == 3);
  const bool by_flag = GENERATE(true, false);
  const ProgramRun gone = by_flag ? run_vitrine({"gc", "--instance", mine})
                                  : run_vitrine({"gc"}, {"VITRINE_INSTANCE=" + mine});
  CHECK(gone.exit_code == 0);
  CHECK_THAT(gone.output, Contains(mine) && !Contains(other));
  CHECK_FALSE(std::filesystem::exists(path_of(mine)));
  CHECK(std::filesystem::exists(path_of(other)));
  run_vitrine({"gc", "--instance", other});
  CHECK_FALSE(std::filesystem::exists(path_of(other)));
}

TEST_CASE("ls of a segment that it may not map gives it no instance", "[ls]") {
  const ScratchFolder on_disk;
  const std::string path = on_disk / "some.segment";
  { const shm::SegmentWriter dead = publish_engine_at(path, "some", 1'000'000'000); }
  const ProgramRun run = run_vitrine({"ls", "--segment", path});
  INFO(run.output);
  if (run.exit_code != 5) return;  // here a scratch folder is in a tmpfs
  CHECK_THAT(run.output, Contains("\n-         unreadable") && !Contains("main"));
}
