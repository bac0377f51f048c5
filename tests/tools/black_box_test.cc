// SPDX-License-Identifier: Apache-2.0
// A real engine that is stopped, killed and asked after: what probes and people are told.
#include <boost/json/parse.hpp>
#include <catch2/catch.hpp>

#include "tests/scratch_folder.h"
#include "tests/tools/program_run.h"

using namespace vitrine;
using namespace vitrine::tests;
using Catch::Matchers::Contains;

namespace {

// Starts an engine, waits until it takes work, then runs `script` with its PID in $pid and its
// segment in $segment. Whatever happens the engine is gone in the end.
ProgramRun with_engine(const SharedScratchFolder& scratch, const std::string& script) {
  const std::string vitrine = VITRINE_BIN "/vitrine";
  const std::string segment = scratch / "box.segment";
  return run_program(
      {"/bin/bash", "-c",
       VITRINE_BIN "/vitrined --instance box --segment " + segment + " --spool-directory " +
           (scratch / "spool").string() + " --log-level off & pid=$!; segment=" + segment +
           "; vitrine=" + vitrine +
           "; trap 'kill -KILL $pid' EXIT; for i in {1..400}; do $vitrine check --ready --segment "
           "$segment >/dev/null 2>&1 && break; sleep 0.05; done; " +
           script},
      {"XDG_RUNTIME_DIR=" + scratch.path().string(), "RUNTIME_DIRECTORY=", "STATE_DIRECTORY=",
       "XDG_STATE_HOME=" + scratch.path().string(), "LC_ALL=C"});
}

}  // namespace

TEST_CASE("an engine that was stopped is critical and not live, and well again later",
          "[black-box]") {
  const SharedScratchFolder scratch;
  const ProgramRun run = with_engine(
      scratch,
      // A beat that is not yet late is no evidence, nor has an engine that goes on a core at once.
      "live() { $vitrine check --live --segment $segment; }; kill -STOP $pid; "
      "for i in {1..600}; do live >/dev/null || break; sleep 0.05; done; "
      "$vitrine check --segment $segment; echo $?; kill -CONT $pid; "
      "for i in {1..600}; do live >/dev/null && break; sleep 0.05; done; live");
  INFO(run.output << run.error);
  CHECK(run.output.starts_with("critical: box is hung: "));
  CHECK_THAT(run.output, Contains("\n2\nlive: box is idle: "));
  CHECK(run.exit_code == 0);
}

TEST_CASE("what killed an engine is in its post-mortem", "[black-box]") {
  const SharedScratchFolder scratch;
  const ProgramRun run =
      with_engine(scratch,
                  "kill -KILL $pid; wait $pid; $vitrine check --segment $segment >/dev/null; echo "
                  "$?; $vitrine post-mortem --json --segment $segment");
  INFO(run.output << run.error);
  REQUIRE(run.output.starts_with("2\n"));
  CHECK(run.exit_code == 4);
  const auto document = boost::json::parse(run.output.substr(2));
  CHECK(document.at("engine").at("verdict") == "dead");
  CHECK(document.at("post_mortem").at("last_heartbeat_age_seconds").as_double() < 60);
  CHECK(!document.at("events").as_array().empty());
}

TEST_CASE("doctor finds nothing wrong with an engine that is well", "[black-box]") {
  const SharedScratchFolder scratch;
  const ProgramRun run =
      with_engine(scratch, "$vitrine doctor --json --segment $segment; echo; true");
  INFO(run.output << run.error);
  const auto document = boost::json::parse(run.output);
  std::string texts;
  for (const auto& finding : document.at("findings").as_array()) {
    if (finding.at("about") != "box") continue;
    CHECK(finding.at("severity") == "ok");
    texts += std::string(finding.at("text").as_string()) + "\n";
  }
  CHECK_THAT(texts, Contains("lock held, heartbeat moves"));
  CHECK_THAT(texts, Contains("its API answers at"));
}

TEST_CASE("a report of a real engine names its configuration and no secret", "[black-box]") {
  const SharedScratchFolder scratch;
  const std::string out = scratch / "r.tar.gz";
  const ProgramRun run = with_engine(scratch, "$vitrine report --segment $segment --out " + out +
                                                  " >/dev/null; tar -xzOf " + out +
                                                  " --wildcards '*/configuration.toml'");
  INFO(run.output << run.error);
  CHECK_THAT(run.output, Contains("[engine]\n"));
  CHECK_THAT(run.output, Contains("memory_budget = "));
}
