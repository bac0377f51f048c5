// SPDX-License-Identifier: Apache-2.0
// The program `vitrine` as a script meets it: exit codes, one line for what is wrong, JSON.
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <catch2/catch.hpp>
#include <fstream>
#include <thread>

#include "shm/clock.h"
#include "shm/paths.h"
#include "tests/scratch_folder.h"
#include "tests/tools/program_run.h"
#include "tests/tools/test_engine.h"

using namespace vitrine;
using namespace vitrine::tests;

namespace {

const std::vector<std::string> kStatusCommands = {"show", "jobs", "workers", "memory", "events"};

// Every status command on the segment ends in this code. A writer that is given beats before each.
void check_status(const SharedScratchFolder& scratch, int exit_code,
                  shm::SegmentWriter* beating = nullptr) {
  const std::string path = shm::segment_path_in(scratch.path(), "e");
  for (const std::string& command : kStatusCommands) {
    if (beating != nullptr) beating->beat();
    const ProgramRun run = run_vitrine({command, "--segment", path});
    INFO(command << ": " << run.output << run.error);
    CHECK(run.exit_code == exit_code);
  }
}

void check_refused(const ProgramRun& run, const std::string& named) {
  INFO(run.error);
  CHECK(run.exit_code == 2);
  CHECK(run.output.empty());
  CHECK(run.error_is_one_line());
  CHECK(run.error.find(named) != std::string::npos);
}

}  // namespace

TEST_CASE("an engine that lives: 0", "[program]") {
  const SharedScratchFolder scratch;
  shm::SegmentWriter writer = publish_engine(scratch.path(), "e");
  check_status(scratch, 0, &writer);
}

TEST_CASE("an engine that is degraded or draining: 1", "[program]") {
  const SharedScratchFolder scratch;
  shm::SegmentWriter writer = publish_engine(scratch.path(), "e");
  writer.set_life(shm::EngineLife::kDegraded, 0);
  check_status(scratch, 1, &writer);
  writer.set_life(shm::EngineLife::kDraining, 0);
  check_status(scratch, 1, &writer);
}

TEST_CASE("an engine whose heartbeat stands: 6", "[program]") {
  const SharedScratchFolder scratch;
  constexpr std::uint64_t kIntervalNs = 10'000'000;
  shm::SegmentWriter writer = publish_engine(scratch.path(), "e", kIntervalNs);
  const std::uint64_t late_ns = shm::monotonic_ns() + 10 * kIntervalNs;
  while (shm::monotonic_ns() < late_ns) std::this_thread::yield();
  check_status(scratch, 6);
}

TEST_CASE("an engine that died: 4, with its last state", "[program]") {
  const SharedScratchFolder scratch;
  { const shm::SegmentWriter dead = publish_engine(scratch.path(), "e"); }
  check_status(scratch, 4);
  const std::string path = shm::segment_path_in(scratch.path(), "e");
  const ProgramRun show = run_vitrine({"show", "--segment", path});
  CHECK(show.output.find("  dead  ") != std::string::npos);
  CHECK(show.output.find("#gs.") != std::string::npos);
  CHECK(run_vitrine({"show", "--file", path}).exit_code == 4);
}

TEST_CASE("an engine that ended: 4", "[program]") {
  const SharedScratchFolder scratch;
  {
    shm::SegmentWriter writer = publish_engine(scratch.path(), "e");
    writer.set_life(shm::EngineLife::kClosed, 0);
  }
  check_status(scratch, 4);
}

TEST_CASE("no such instance: 3, naming it", "[program]") {
  for (const std::string& command : kStatusCommands) {
    const ProgramRun run = run_vitrine({command, "--instance", "no-such-instance"});
    INFO(command << ": " << run.error);
    CHECK(run.exit_code == 3);
    CHECK(run.output.empty());
    CHECK(run.error_is_one_line());
    CHECK(run.error.find("no-such-instance") != std::string::npos);
  }
}

TEST_CASE("instances that are there are named when the one that was meant is not", "[program]") {
  const std::filesystem::path places = "/dev/shm";
  const std::string neighbour = "neighbour-" + std::to_string(getpid());
  const std::filesystem::path segment = shm::segment_path_in(places, neighbour);
  { const shm::SegmentWriter dead = publish_engine(places, neighbour); }
  for (const std::string& command : kStatusCommands) {
    const ProgramRun run = run_vitrine({command, "--instance", "no-such-instance"});
    INFO(command << ": " << run.error);
    CHECK(run.exit_code == 3);
    CHECK(run.error_is_one_line());
    CHECK(run.error.find("; instances here: ") != std::string::npos);
    CHECK(run.error.find("; see 'vitrine ls'\n") != std::string::npos);
  }
  std::filesystem::remove(segment);
  std::filesystem::remove(shm::lock_path_of(segment));
}

TEST_CASE("random bytes: 5, saying why", "[program]") {
  const SharedScratchFolder scratch;
  std::ofstream(shm::segment_path_in(scratch.path(), "e")) << std::string(65536, '\x5a');
  check_status(scratch, 5);
  const ProgramRun run =
      run_vitrine({"show", "--segment", shm::segment_path_in(scratch.path(), "e")});
  CHECK(run.output.empty());
  CHECK(run.error_is_one_line());
}

TEST_CASE("with --json the output is one document and nothing else", "[program]") {
  const SharedScratchFolder scratch;
  { const shm::SegmentWriter dead = publish_engine(scratch.path(), "e"); }
  const std::string path = shm::segment_path_in(scratch.path(), "e");
  for (const std::string command : {"show", "jobs", "workers", "memory", "ls"}) {
    const ProgramRun run = run_vitrine({command, "--json", "--segment", path});
    INFO(command << ": " << run.output);
    CHECK(run.error.empty());
    boost::json::error_code problem;
    CHECK(boost::json::parse(run.output, problem).is_object());
    CHECK(!problem);
  }
}

TEST_CASE("events as JSON are one object a line", "[program]") {
  const SharedScratchFolder scratch;
  {
    shm::SegmentWriter writer = publish_engine(scratch.path(), "e");
    append_events(writer, 3);
  }
  const std::string path = shm::segment_path_in(scratch.path(), "e");
  const ProgramRun run = run_vitrine({"events", "--json", "--segment", path});
  CHECK(run.exit_code == 4);
  std::istringstream lines(run.output);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    CHECK(boost::json::parse(line).as_object().at("type") == "gpu_start");
  }
  CHECK(count == 3);
}

TEST_CASE("following ends at the limit and after the time", "[program]") {
  const SharedScratchFolder scratch;
  shm::SegmentWriter writer = publish_engine(scratch.path(), "e");
  append_events(writer, 3);
  const std::string path = shm::segment_path_in(scratch.path(), "e");
  const ProgramRun limited = run_vitrine({"events", "-f", "--limit", "2", "--segment", path});
  CHECK(limited.exit_code == 0);
  CHECK(std::count(limited.output.begin(), limited.output.end(), '\n') == 2);
  const ProgramRun timed = run_vitrine({"events", "-f", "--for", "0s", "--segment", path});
  CHECK(timed.exit_code == 0);
  CHECK(std::count(timed.output.begin(), timed.output.end(), '\n') == 3);
}

TEST_CASE("a signal ends following, with 0", "[program]") {
  const SharedScratchFolder scratch;
  shm::SegmentWriter writer = publish_engine(scratch.path(), "e");
  append_events(writer, 1);
  const std::string path = shm::segment_path_in(scratch.path(), "e");
  // The first line says that it follows.
  const ProgramRun run = run_program(
      {"/bin/bash", "-c",
       "coproc follow { exec " VITRINE_BIN "/vitrine events -f --segment " + path +
           "; }; pid=$follow_PID; read -r line <&${follow[0]}; kill -TERM $pid; wait $pid"});
  INFO(run.error);
  CHECK(run.exit_code == 0);
}

TEST_CASE("squares only where the locale has them, colour only on a terminal", "[program]") {
  const SharedScratchFolder scratch;
  { const shm::SegmentWriter dead = publish_engine(scratch.path(), "e"); }
  const std::vector<std::string> jobs = {"jobs", "--segment",
                                         shm::segment_path_in(scratch.path(), "e")};
  CHECK(run_vitrine(jobs, {"LC_ALL=C"}).output.find("#gs.") != std::string::npos);
  const std::string utf8 = run_vitrine(jobs, {"LC_ALL=C.UTF-8"}).output;
  CHECK(utf8.find("■▣◧□") != std::string::npos);
  CHECK(utf8.find('\x1b') == std::string::npos);
}

TEST_CASE("what is not understood is named on one line: 2", "[program]") {
  check_refused(run_vitrine({}), "a command is required: ls, show, jobs, ");
  check_refused(run_vitrine({"--instance", "e"}), "'vitrine --help'");
  check_refused(run_vitrine({"show", "--bogus"}), "--bogus");
  check_refused(run_vitrine({"show", "stray"}), "stray");
  check_refused(run_vitrine({"show", "--instance", "No/Such"}), "No/Such");
  check_refused(run_vitrine({"show"}, {"VITRINE_INSTANCE=No/Such"}), "No/Such");
  check_refused(run_vitrine({"events", "-f", "--for", "5"}), "'5'");
  check_refused(run_vitrine({"events", "--limit", "-3"}), "-3");
  check_refused(run_vitrine({"events", "--limit", "0x10"}), "0x10");
  check_refused(run_vitrine({"show", "--log-level", "loud"}), "loud");
  check_refused(run_vitrine({"wait", "12x"}), "12x");
  check_refused(run_vitrine({"wait"}), "ID");
  check_refused(run_vitrine({"submit", "--wtns", "a"}), "--circuit");
  check_refused(run_vitrine({"submit", "--circuit", "a"}), "--wtns");
  check_refused(run_vitrine({"submit", "--circuit", "a", "--input", "b"}), "b: No such file");
  check_refused(run_vitrine({"submit", "--circuit", "a", "--wtns", "b", "--priority", "now"}),
                "now");
}

TEST_CASE("help and version go to standard output", "[program]") {
  const ProgramRun version = run_vitrine({"--version"});
  CHECK(version.exit_code == 0);
  CHECK(version.output == "vitrine " VITRINE_VERSION "\n");
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"--help"}, {"ls", "--help"}, {"submit", "--help"}, {"events", "--help"}}) {
    const ProgramRun help = run_vitrine(arguments);
    CHECK(help.exit_code == 0);
    CHECK(help.error.empty());
    CHECK(help.output.find("--") != std::string::npos);
  }
}

TEST_CASE("help names the exit codes of a command and the programs of their own", "[program]") {
  for (const std::string command :
       {"ls", "show", "jobs", "workers", "memory", "events", "check", "doctor", "report", "schema",
        "gc", "submit", "wait", "cancel", "pause", "resume", "drain"}) {
    INFO(command);
    CHECK(run_vitrine({command, "--help"}).output.find("Exit codes: 0 ") != std::string::npos);
  }
  CHECK(run_vitrine({"wait", "--help"}).output.find("9 lost") != std::string::npos);
  const std::string help = run_vitrine({"--help"}).output;
  for (const std::string program : {"prove", "verify", "genkey", "http"}) {
    CHECK(help.find("\n  " + program + " ") != std::string::npos);
  }
}

TEST_CASE("an unknown command is one line: 2", "[external]") {
  check_refused(run_vitrine({"no-such-command"}), "no-such-command");
  check_refused(run_vitrine({"../evil"}), "../evil");
}

TEST_CASE("a segment that was named is missed by its path: 3", "[program]") {
  for (const std::string command : {"show", "events", "ls", "cancel"}) {
    std::vector<std::string> arguments = {command, "--segment", "/nonexistent/x"};
    if (command == "cancel") arguments.push_back("1");
    const ProgramRun run = run_vitrine(arguments);
    INFO(command << ": " << run.error);
    CHECK(run.exit_code == 3);
    CHECK(run.error == "vitrine: /nonexistent/x: no such segment\n");
  }
}

TEST_CASE("what readers advise is a flag of every command that reads a segment", "[program]") {
  const ScratchFolder elsewhere;
  shm::SegmentWriter writer = publish_engine(elsewhere.path(), "e");
  writer.beat();
  const std::string path = shm::segment_path_in(elsewhere.path(), "e");
  std::vector<std::string> commands = kStatusCommands;
  commands.push_back("ls");
  for (const std::string& command : commands) {
    const ProgramRun run =
        run_vitrine({command, "--any-filesystem", "--owner", "root", "--segment", path});
    INFO(command << ": " << run.error);
    CHECK(run.exit_code == 0);
    check_refused(run_vitrine({command, "--owner", "no-such-user-here"}), "no-such-user-here");
  }
}

TEST_CASE("an owner that is named is trusted where others can write", "[program]") {
  constexpr uid_t kStranger = 65'533;
  const SharedScratchFolder scratch;
  shm::SegmentWriter writer = publish_engine(scratch.path(), "e");
  const std::string path = shm::segment_path_in(scratch.path(), "e");
  std::filesystem::permissions(scratch.path(), std::filesystem::perms::all);
  if (chown(path.c_str(), kStranger, static_cast<gid_t>(-1)) != 0) {
    WARN("not tested: only root can give a file away");
    return;
  }
  const ProgramRun refused = run_vitrine({"show", "--segment", path});
  CHECK(refused.exit_code == 5);
  CHECK(refused.error.find("--owner") != std::string::npos);
  CHECK(run_vitrine({"show", "--segment", path, "--owner", "65533"}).exit_code == 0);
}

TEST_CASE("events that cannot be read are said: 5", "[program]") {
  const SharedScratchFolder scratch;
  {
    shm::SegmentWriter writer = publish_engine(scratch.path(), "e");
    append_events(writer, 20);
  }
  const std::string path = shm::segment_path_in(scratch.path(), "e");
  damage_events(path);
  const ProgramRun run = run_vitrine({"events", "--segment", path});
  INFO(run.output << run.error);
  CHECK(run.exit_code == 5);
  CHECK(run.error_is_one_line());
  CHECK(run.error.find("event ring") != std::string::npos);
}

TEST_CASE("an external command gets every argument and its exit code comes back", "[external]") {
  const SharedScratchFolder scratch;
  const std::filesystem::path program = scratch.path() / "vitrine-greet";
  std::ofstream(program) << "#!/bin/sh\necho \"$#: $*\"\nexit 42\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const ProgramRun run = run_vitrine({"greet", "--json", "--", "a b"},
                                     {"PATH=" + scratch.path().string() + ":/usr/bin:/bin"});
  INFO(run.error);
  CHECK(run.exit_code == 42);
  CHECK(run.output == "3: --json -- a b\n");
}

TEST_CASE("output that cannot be written is an error, a reader that left is not", "[program]") {
  const std::string program = VITRINE_BIN "/vitrine";
  const ProgramRun full = run_program({"/bin/sh", "-c", program + " --help >/dev/full"});
  CHECK(full.exit_code == 1);
  CHECK(full.error == "vitrine: writing the output: No space left on device\n");
  const SharedScratchFolder scratch;
  shm::SegmentWriter writer = publish_engine(scratch.path(), "e");
  append_events(writer, 3);
  const std::string path = shm::segment_path_in(scratch.path(), "e");
  const ProgramRun left =
      run_program({"/bin/bash", "-c",
                   "set -o pipefail; " + program + " events -f --segment " + path + " | true"});
  INFO(left.error);
  CHECK(left.exit_code == 0);
}

TEST_CASE("without an engine there is no work to give: 3", "[program]") {
  const SharedScratchFolder scratch;
  const std::string runtime = "XDG_RUNTIME_DIR=" + scratch.path().string();
  std::ofstream(scratch.path() / "w.wtns") << "x";
  const std::string witness = scratch.path() / "w.wtns";
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"submit", "--circuit", "a", "--wtns", witness}, {"wait", "1", "--timeout", "0s"}}) {
    auto with_instance = arguments;
    with_instance.insert(with_instance.end(), {"--instance", "no-such-instance"});
    const ProgramRun run = run_vitrine(with_instance, {runtime});
    INFO(arguments[0] << ": " << run.error);
    CHECK(run.exit_code == 3);
    CHECK(run.error_is_one_line());
  }
}
