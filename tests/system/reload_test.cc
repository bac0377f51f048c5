// SPDX-License-Identifier: Apache-2.0
// A daemon whose configuration changes while it runs, and the verbs that an operator has for it.
#include <signal.h>

#include <boost/json.hpp>
#include <catch2/catch.hpp>
#include <fstream>

#include "tests/engine/container_bytes.h"
#include "tests/engine/real_inputs.h"
#include "tests/system/daemon_process.h"
#include "tests/tools/program_run.h"

namespace vitrine::system_test {
namespace {

using Catch::Matchers::Contains;
using engine::testing::circuit_folder;
using tests::ProgramRun;
using tests::run_vitrine;

// A daemon with a configuration file of its own.
class ConfiguredDaemon {
 public:
  explicit ConfiguredDaemon(const std::string& configuration)
      : daemon_((write(configuration), site_), {"--config", file().string()}) {}

  std::filesystem::path file() const { return site_.scratch / "vitrine.toml"; }
  void write(const std::string& configuration) const { std::ofstream(file()) << configuration; }
  const Site& site() const { return site_; }
  RunningDaemon& daemon() { return daemon_; }
  ProgramRun vitrine(std::vector<std::string> words) const {
    words.insert(words.end(), {"--segment", site_.segment().string()});
    return run_vitrine(words);
  }
  // The ids of all circuits, each with a blank before it.
  std::string circuits() const {
    const auto answer = ApiClient(site_.socket()).get("/v1/circuits");
    REQUIRE(answer.status == 200);
    std::string ids;
    const boost::json::value document = boost::json::parse(answer.body);
    for (const boost::json::value& circuit : document.at("circuits").as_array()) {
      ids.append(" ").append(circuit.at("circuit").as_string());
    }
    return ids;
  }
  std::string setting(const std::string& name) {
    const shm::Snapshot now =
        snapshot_when(daemon_, site_.segment(), [](const shm::Snapshot&) { return true; });
    for (const auto& row : now.rows<shm::SettingRecord>()) {
      if (row.name.view() == name) return std::string(row.value.view());
    }
    return "none";
  }

 private:
  Site site_;
  RunningDaemon daemon_;
};

std::string circuit_text(const std::string& id, const std::string& more = {}) {
  const auto zkey = circuit_folder("bn128", "multiplier") / "circuit.zkey";
  return "[circuit." + id + "]\nzkey = \"" + zkey.string() + "\"\n" + more;
}

TEST_CASE("a daemon takes changed files on SIGHUP, and leaves a file that is not good alone") {
  ConfiguredDaemon running("[engine]\ndrain_timeout = \"5s\"\n");
  CHECK(running.circuits() == " demo");
  running.write("[engine]\ndrain_timeout = \"6s\"\n" + circuit_text("second"));
  running.daemon().signal(SIGHUP);
  wait_until(running.daemon(), [&] { return running.circuits() == " second demo"; });
  CHECK(running.setting("drain_timeout") == "6s");
  CHECK_THAT(running.setting("circuit.second.zkey"), Contains("multiplier"));
  running.write("[engine]\nlog_level = 'loud'\n");
  running.daemon().signal(SIGHUP);
  wait_until(running.daemon(),
             [&] { return running.daemon().log().find("reload refused") != std::string::npos; });
  CHECK_THAT(running.daemon().log(), Contains(running.file().string() + ":2: log_level"));
  CHECK(running.circuits() == " second demo");
  CHECK(running.setting("drain_timeout") == "6s");
  running.write("");
  running.daemon().signal(SIGHUP);
  wait_until(running.daemon(), [&] { return running.circuits() == " demo"; });
  CHECK(running.setting("drain_timeout") == "25s");
  CHECK(running.setting("circuit.second.zkey") == "none");
  running.daemon().signal(SIGTERM);
  CHECK(running.daemon().exit_code() == 0);
}

TEST_CASE("an operator reloads by command and is told what took effect and what did not") {
  ConfiguredDaemon running("");
  running.write("[engine]\nlog_level = \"debug\"\nkey_loaders = 3\n" + circuit_text("second") +
                "[circuit.demo]\nzkey = \"/flags/win.zkey\"\n");
  const ProgramRun done = running.vitrine({"reload"});
  INFO(done.error);
  CHECK(done.exit_code == 0);
  CHECK(done.output ==
        "reloaded\ncircuits added: second\nsettings changed: log_level\n"
        "not until the next start: key_loaders\n");
  CHECK(running.setting("key_loaders") == "1");
  CHECK(running.setting("log_level") == "debug");
  CHECK_THAT(running.daemon().log(),
             Contains("settings that wait for the next start: key_loaders"));
  CHECK(final_state(running.site(), submit(running.site(), 1)) == "done");  // the flag's key
  CHECK_THAT(running.daemon().log(), Contains("synthesis started"));        // of level debug
  const ProgramRun again = running.vitrine({"reload", "--json"});
  CHECK(again.exit_code == 0);
  const auto report = boost::json::parse(again.output).as_object();
  CHECK(report.at("settings").as_array().empty());
  CHECK(report.at("circuits").at("added").as_array().empty());
  running.write("[circuit.second]\ndigest = \"12\"\n");
  const ProgramRun refused = running.vitrine({"reload"});
  CHECK(refused.exit_code == 8);
  CHECK_THAT(refused.error, Contains(running.file().string() + ":2: digest = '12'"));
  CHECK(running.circuits() == " demo second");
}

TEST_CASE("a reload that finds no circuit any more is refused, and the engine keeps its own") {
  const Site site;
  const auto file = site.scratch / "vitrine.toml";
  std::ofstream(file) << "[engine]\ndrain_timeout = \"5s\"\n" << circuit_text("only");
  std::vector<std::string> arguments = site.arguments({"--config", file.string()});
  arguments.resize(arguments.size() - 2);  // without the circuit that a flag gives
  DaemonProcess daemon(arguments, site.scratch / "log");
  wait_until(daemon, [&] { return daemon.log().find(" listening: ") != std::string::npos; });
  const auto reload = [&] { return run_vitrine({"reload", "--segment", site.segment().string()}); };
  for (const char* text : {"", "# nothing yet\n", "[engine]\ndrain_timeout = \"6s\"\n"}) {
    std::ofstream{file} << text;
    const ProgramRun refused = reload();
    CHECK(refused.exit_code == 8);
    CHECK_THAT(refused.error, Contains(file.string() + ": it has no circuit any more"));
  }
  const auto answer = ApiClient(site.socket()).get("/v1/circuits");
  CHECK_THAT(answer.body, Contains("\"only\""));
  CHECK_THAT(daemon.log(), Contains("reload refused: " + file.string()));
  std::ofstream{file};
  std::filesystem::create_directory(file.string() + ".d");
  std::ofstream(file.string() + ".d/more.toml") << circuit_text("other");
  CHECK(reload().output ==
        "reloaded\ncircuits added: other\ncircuits removed: only\n"
        "settings changed: drain_timeout\n");
}

TEST_CASE("reloads while jobs run lose none") {
  ConfiguredDaemon running("");
  std::vector<std::string> jobs;
  for (int round = 0; round < 6; ++round) {
    jobs.push_back(submit(running.site(), 3));
    running.write(round % 2 == 0 ? circuit_text("second") : "");
    running.daemon().signal(SIGHUP);
    const std::string expected = round % 2 == 0 ? " second demo" : " demo";
    wait_until(running.daemon(), [&] { return running.circuits() == expected; });
  }
  for (const std::string& job : jobs) CHECK(final_state(running.site(), job) == "done");
}

TEST_CASE("an operator loads, checks and drops a key, and sees all of them in a table") {
  ConfiguredDaemon running("");
  const ProgramRun loaded = running.vitrine({"srs", "preload", "demo", "--wait"});
  INFO(loaded.error);
  CHECK(loaded.exit_code == 0);
  CHECK(loaded.output == "circuit demo: ready\n");
  const ProgramRun table = running.vitrine({"srs"});
  CHECK(table.exit_code == 0);
  CHECK_THAT(table.output, Contains("CIRCUIT") && Contains("demo") && Contains("ready"));
  CHECK(running.vitrine({"srs", "preload", "demo"}).output ==
        "circuit demo: preload, nothing to do\n");
  const ProgramRun verified = running.vitrine({"srs", "verify", "demo"});
  CHECK(verified.exit_code == 0);
  CHECK_THAT(verified.output, Contains("circuit demo: good, sha256 "));
  CHECK(running.vitrine({"srs", "evict", "demo"}).output == "circuit demo: evict begun\n");
  CHECK(running.vitrine({"srs", "evict", "nobody"}).exit_code == 2);
  CHECK(running.vitrine({"srs", "evict"}).exit_code == 2);
  CHECK(running.vitrine({"srs", "evict", "demo", "--wait"}).exit_code == 2);
}

TEST_CASE("a key that is not good ends preload and verify with its name") {
  const ScratchFolder scratch;
  engine::testing::ContainerBytes key(circuit_folder("bn128", "demo") / "circuit.zkey");
  key.flip_bit(8 * (key.section(5).begin + 40));
  key.write(scratch / "bad.zkey");
  ConfiguredDaemon running("[circuit.bad]\nzkey = \"" + (scratch / "bad.zkey").string() + "\"\n");
  for (const char* verb : {"preload", "verify"}) {
    std::vector<std::string> words = {"srs", verb, "bad"};
    if (std::string(verb) == "preload") words.insert(words.end(), {"--wait", "--timeout", "60s"});
    const ProgramRun run = running.vitrine(words);
    INFO(verb);
    CHECK(run.exit_code == 1);
    CHECK_THAT(run.error, Contains("bad.zkey: section 5"));
  }
}

}  // namespace
}  // namespace vitrine::system_test
