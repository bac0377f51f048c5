// SPDX-License-Identifier: Apache-2.0
// --file: every status command reads a segment file as it reads an instance.
#include <boost/json/parse.hpp>
#include <catch2/catch.hpp>
#include <fstream>

#include "shm/paths.h"
#include "tests/scratch_folder.h"
#include "tests/tools/program_run.h"
#include "tests/tools/test_engine.h"

using namespace vitrine;
using namespace vitrine::tests;

namespace {

// What a command ends in for the file of a dead engine, for noise, for the file of an engine that
// lives, and when there is none.
struct StatusCommand {
  std::vector<std::string> words;
  int dead;
  int noise;
  int living;
  int absent;
};

std::vector<StatusCommand> status_commands(const std::string& out) {
  return {{{"show"}, 4, 5, 5, 3},
          {{"jobs"}, 4, 5, 5, 3},
          {{"workers"}, 4, 5, 5, 3},
          {{"memory"}, 4, 5, 5, 3},
          {{"events"}, 4, 5, 5, 3},
          {{"post-mortem"}, 4, 5, 5, 3},
          {{"check"}, 2, 3, 3, 3},
          {{"check", "--live"}, 1, 1, 1, 1},
          {{"report", "--out", out}, 0, 5, 5, 3}};
}

ProgramRun run_on(const StatusCommand& command, const std::filesystem::path& file,
                  const std::vector<std::string>& more = {}) {
  std::vector<std::string> words = command.words;
  words.insert(words.end(), {"--file", file.string()});
  words.insert(words.end(), more.begin(), more.end());
  return run_vitrine(words);
}

}  // namespace

TEST_CASE("every status command reads the file of a dead engine", "[file]") {
  const ScratchFolder scratch;
  const SharedScratchFolder shared;
  {
    shm::SegmentWriter writer = publish_engine(shared.path(), "e");
    append_events(writer, 3);
  }
  const auto file = scratch / "black-box";
  std::filesystem::copy_file(shm::segment_path_in(shared.path(), "e"), file);
  for (const StatusCommand& command : status_commands(scratch / "out")) {
    const ProgramRun run = run_on(command, file);
    INFO(command.words[0] << ": " << run.output << run.error);
    CHECK(run.exit_code == command.dead);
    CHECK(!run.output.empty());
    // A report says on standard error what it could not have, as a log.
    CHECK((run.error.empty() || command.words[0] == "report"));
    const ProgramRun json = run_on(command, file, {"--json"});
    CHECK(json.exit_code == command.dead);
    const std::string first_line = json.output.substr(0, json.output.find('\n'));
    boost::json::error_code problem;
    CHECK(boost::json::parse(first_line, problem).is_object());
  }
}

TEST_CASE("every status command says what is wrong with a file", "[file]") {
  const ScratchFolder scratch;
  const SharedScratchFolder shared;
  const shm::SegmentWriter living = publish_engine(shared.path(), "e");
  std::ofstream(scratch / "noise") << std::string(65536, 'x');
  for (const StatusCommand& command : status_commands(scratch / "out")) {
    INFO(command.words[0]);
    CHECK(run_on(command, scratch / "noise").exit_code == command.noise);
    CHECK(run_on(command, shm::segment_path_in(shared.path(), "e")).exit_code == command.living);
    const ProgramRun absent = run_on(command, scratch / "none");
    CHECK(absent.exit_code == command.absent);
    CHECK((absent.output + absent.error).find((scratch / "none").string()) != std::string::npos);
  }
}

TEST_CASE("every status command shows the recorded moment of an engine that lives", "[file]") {
  const ScratchFolder scratch;
  const SharedScratchFolder shared;
  const shm::SegmentWriter living = publish_engine(shared.path(), "e");
  const ProgramRun made = run_vitrine({"record", "--out", scratch / "recording", "--for", "50ms",
                                       "--segment", shm::segment_path_in(shared.path(), "e")});
  INFO(made.error);
  REQUIRE(made.exit_code == 0);
  for (const StatusCommand& command : status_commands(scratch / "out")) {
    const ProgramRun run = run_on(command, scratch / "recording");
    INFO(command.words[0] << ": " << run.output << run.error);
    CHECK(run.exit_code == (command.words[0] == "post-mortem" ? 3 : 0));
  }
}
