// SPDX-License-Identifier: Apache-2.0
#include "tools/health_check.h"

#include <array>
#include <boost/json/parse.hpp>
#include <catch2/catch.hpp>
#include <regex>

#include "tests/scratch_folder.h"
#include "tests/tools/program_run.h"
#include "tests/tools/sample_observation.h"
#include "tests/tools/test_engine.h"

using namespace vitrine;
using namespace vitrine::tools;
using namespace vitrine::tests;
using Word = shm::VerdictWord;

namespace {

struct Expected {
  Word word;
  int state;
  int live;
  int ready;
};
constexpr std::array<Expected, 9> kAnswers = {{{Word::kIdle, 0, 0, 0},
                                               {Word::kBusy, 0, 0, 0},
                                               {Word::kStarting, 0, 0, 1},
                                               {Word::kDegraded, 1, 0, 0},
                                               {Word::kDraining, 1, 0, 1},
                                               {Word::kHung, 2, 1, 1},
                                               {Word::kDead, 2, 1, 1},
                                               {Word::kExited, 2, 1, 1},
                                               {Word::kUnreadable, 3, 1, 1}}};

shm::Observation observed(Word word) {
  shm::Observation observation = sample_observation();
  observation.verdict.word = word;
  return observation;
}

int code(const shm::Observation& observation, HealthQuestion question) {
  return static_cast<int>(health_code(observation, question));
}

bool is_one_line(const std::string& text) { return text.find('\n') == text.size() - 1; }

}  // namespace

TEST_CASE("every verdict has its code for monitors and for both probes", "[check]") {
  for (const Expected& expected : kAnswers) {
    INFO(shm::word(expected.word));
    const shm::Observation observation = observed(expected.word);
    CHECK(code(observation, HealthQuestion::kState) == expected.state);
    CHECK(code(observation, HealthQuestion::kLive) == expected.live);
    CHECK(code(observation, HealthQuestion::kReady) == expected.ready);
  }
}

TEST_CASE("the plain answer is one line with the verdict and why", "[check]") {
  const shm::Observation busy = observed(Word::kBusy);
  CHECK(health_plain(busy, HealthQuestion::kState) == "ok: main is busy: 1 job running\n");
  CHECK(health_plain(busy, HealthQuestion::kReady) == "ready: main is busy: 1 job running\n");
  CHECK(health_plain(observed(Word::kHung), HealthQuestion::kLive) ==
        "not live: main is hung: 1 job running\n");
}

TEST_CASE("the line for a monitor carries performance data by the plugins' guideline", "[check]") {
  const std::string line = health_nagios(observed(Word::kBusy), HealthQuestion::kState);
  CHECK(line ==
        "VITRINE OK - main is busy: 1 job running | heartbeat_age=0.050s;;0.300;0;"
        " jobs_active=1;;;0; jobs_waiting=1;;;0; workers_proving=1;;;0;2"
        " memory_reserved=1610612736B;;;0;2147483648 jobs_done=0c;;;0; jobs_failed=0c;;;0;\n");
  const std::regex shape(R"(VITRINE [A-Z]+ - [^|\n]* \|)"
                         R"(( [a-z_]+=[0-9.]+[a-zA-Z]?(;[0-9.]*){4})+\n)");
  CHECK(std::regex_match(line, shape));
  CHECK(health_nagios(observed(Word::kDead), HealthQuestion::kReady)
            .starts_with("VITRINE CRITICAL - not ready; main is dead: "));
}

TEST_CASE("a reason from the segment cannot break the line apart", "[check]") {
  shm::Observation observation = observed(Word::kDegraded);
  observation.verdict.reason = "no | pipe\nand no break\x1b[2J";
  for (const std::string& line : {health_plain(observation, HealthQuestion::kState),
                                  health_nagios(observation, HealthQuestion::kState)}) {
    INFO(line);
    CHECK(is_one_line(line));
    CHECK(line.find('\x1b') == std::string::npos);
  }
  const std::string nagios = health_nagios(observation, HealthQuestion::kState);
  CHECK(std::count(nagios.begin(), nagios.end(), '|') == 1);
}

TEST_CASE("the JSON answer has both probes beside the state", "[check]") {
  const auto out = health_json(observed(Word::kDraining), HealthQuestion::kReady);
  CHECK(out.at("state") == "warning");
  CHECK(out.at("exit_code") == 1);
  CHECK(out.at("live") == true);
  CHECK(out.at("ready") == false);
  CHECK(out.at("verdict") == "draining");
}

TEST_CASE("check answers with its own exit codes", "[check]") {
  const SharedScratchFolder scratch;
  const std::string path = shm::segment_path_in(scratch.path(), "e");
  {
    shm::SegmentWriter writer = publish_engine(scratch.path(), "e");
    CHECK(run_vitrine({"check", "--segment", path}).exit_code == 0);
    CHECK(run_vitrine({"check", "--ready", "--segment", path}).exit_code == 0);
    CHECK(run_vitrine({"check", "--file", path}).exit_code == 3);
    writer.set_life(shm::EngineLife::kDraining, 0);
    CHECK(run_vitrine({"check", "--segment", path}).exit_code == 1);
    CHECK(run_vitrine({"check", "--ready", "--segment", path}).exit_code == 1);
    CHECK(run_vitrine({"check", "--live", "--segment", path}).exit_code == 0);
  }
  const ProgramRun dead = run_vitrine({"check", "--segment", path});
  CHECK(dead.exit_code == 2);
  CHECK(dead.output.starts_with("critical: e is dead: "));
  CHECK(dead.error.empty());
  CHECK(run_vitrine({"check", "--live", "--file", path}).exit_code == 1);
  const ProgramRun json = run_vitrine({"check", "--json", "--segment", path});
  CHECK(boost::json::parse(json.output).at("state") == "critical");
  CHECK(run_vitrine({"check", "--format", "json", "--segment", path}).exit_code == 2);
}

TEST_CASE("an engine whose heartbeat stands is critical, in bounded time", "[check]") {
  const SharedScratchFolder scratch;
  constexpr std::uint64_t kIntervalNs = 1'000'000;
  const shm::SegmentWriter writer = publish_engine(scratch.path(), "e", kIntervalNs);
  const std::string path = shm::segment_path_in(scratch.path(), "e");
  ProgramRun run;
  // A fast machine asks before the beat is late.
  for (int i = 0; i < 100 && run.exit_code != 2; ++i)
    run = run_vitrine({"check", "--segment", path});
  INFO(run.output);
  CHECK(run.exit_code == 2);
  CHECK(run_vitrine({"check", "--live", "--segment", path}).exit_code == 1);
}

TEST_CASE("what is not known is 3, for a probe it is no", "[check]") {
  const ProgramRun run = run_vitrine({"check", "--instance", "no-such-instance"});
  CHECK(run.exit_code == 3);
  CHECK(run.output.starts_with("unknown: unreadable: no engine 'no-such-instance'"));
  CHECK(run_vitrine({"check", "--live", "--instance", "no-such-instance"}).exit_code == 1);
  CHECK(run_vitrine({"check", "--ready", "--instance", "no-such-instance"}).exit_code == 1);
}

TEST_CASE("bad usage of check is 3, for a probe it is no", "[check]") {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"check", "--bogus"},
                                             {"check", "--format", "xml"},
                                             {"check", "stray"},
                                             {"check", "--instance", "No/Such"},
                                             {"check", "--format"}}) {
    std::vector<std::string> probe = words;
    probe.insert(probe.begin() + 1, "--live");
    const ProgramRun run = run_vitrine(words);
    INFO(run.error);
    CHECK(run.exit_code == 3);
    CHECK(run.error_is_one_line());
    CHECK(run_vitrine(probe).exit_code == 1);
  }
  CHECK(run_vitrine({"check", "--live", "--ready"}).exit_code == 1);
}
