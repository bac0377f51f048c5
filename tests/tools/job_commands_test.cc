// SPDX-License-Identifier: Apache-2.0
// Giving work to a real engine, as a script does.
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <future>
#include <thread>

#include "shm/file_descriptor.h"
#include "tests/scratch_folder.h"
#include "tests/tools/program_run.h"

using namespace vitrine::tests;
using vitrine::SharedScratchFolder;

namespace {

const std::string kData = VITRINE_TEST_DATA "/bn128/demo/";

// A vitrined of its own, with its segment, socket and spool in a scratch directory.
class RunningEngine {
 public:
  RunningEngine() : RunningEngine(StartedJustNow{}) { wait_until_ready(); }
  struct StartedJustNow {};
  explicit RunningEngine(StartedJustNow) { start(); }
  ~RunningEngine() { kill_it(); }
  RunningEngine(const RunningEngine&) = delete;
  RunningEngine& operator=(const RunningEngine&) = delete;

  void start() {
    const std::string folder = scratch_.path();
    pid_ = fork();
    if (pid_ != 0) return;
    const std::string log = folder + "/log";
    if (freopen(log.c_str(), "a", stderr) == nullptr) _exit(126);
    unsetenv("RUNTIME_DIRECTORY");
    setenv("XDG_RUNTIME_DIR", folder.c_str(), 1);
    unsetenv("STATE_DIRECTORY");
    setenv("XDG_STATE_HOME", folder.c_str(), 1);
    execl(VITRINE_BIN "/vitrined", "vitrined", "--instance", "tools-test", "--segment",
          segment().c_str(), "--spool-directory", (folder + "/spool").c_str(), "--circuit",
          ("demo=" + kData + "circuit.zkey").c_str(), "--circuit",
          "bls=" VITRINE_TEST_DATA "/bls12381/demo/circuit.zkey", nullptr);
    _exit(127);
  }

  void kill_it() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

  void wait_until_ready() const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (vitrine({"show"}).exit_code != 0) {
      REQUIRE(std::chrono::steady_clock::now() < end);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  // Until a line of the engine's log has the text.
  void await_log(const std::string& text) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (true) {
      std::ifstream file(folder() / "log");
      if (std::string(std::istreambuf_iterator<char>(file), {}).find(text) != std::string::npos) {
        return;
      }
      REQUIRE(std::chrono::steady_clock::now() < end);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  ProgramRun vitrine(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--segment", segment()});
    return run_vitrine(std::move(arguments));
  }

  // Submits the first `count` witnesses over and over; the job's id.
  std::string submit(int count) const {
    std::vector<std::string> arguments = {"submit", "--circuit", "demo"};
    for (int i = 0; i < count; ++i) {
      arguments.insert(arguments.end(),
                       {"--wtns", kData + "witness." + std::to_string(i % 10) + ".wtns"});
    }
    const ProgramRun run = vitrine(arguments);
    INFO(run.error);
    REQUIRE(run.exit_code == 0);
    return run.output.substr(0, run.output.find('\n'));
  }

  std::string segment() const { return scratch_.path() / "tools-test.segment"; }
  const std::filesystem::path& folder() const { return scratch_.path(); }

 private:
  SharedScratchFolder scratch_;
  pid_t pid_ = -1;
};

std::string file_in(const std::filesystem::path& folder, const std::string& name,
                    const std::string& text) {
  const std::filesystem::path path = folder / name;
  std::ofstream(path) << text;
  return path;
}

}  // namespace

TEST_CASE("more programs than the engine holds requests wait for a job, and all see its end",
          "[engine]") {
  constexpr int kWaiting = 140;  // it holds 128
  const RunningEngine engine;
  REQUIRE(engine.vitrine({"pause"}).exit_code == 0);
  const std::string id = engine.submit(1);
  std::vector<std::future<ProgramRun>> waiting;
  for (int i = 0; i < kWaiting; ++i) {
    waiting.push_back(std::async(std::launch::async, [&] { return engine.vitrine({"wait", id}); }));
  }
  engine.await_log("API crowded");
  CHECK(engine.vitrine({"resume"}).exit_code == 0);
  for (auto& wait : waiting) {
    const ProgramRun run = wait.get();
    INFO(run.error);
    CHECK(run.exit_code == 0);
  }
}

TEST_CASE("a submitted job is waited for and its proofs verify", "[engine]") {
  const RunningEngine engine;
  const std::string id = engine.submit(3);
  const std::filesystem::path out = engine.folder() / "out";
  const ProgramRun wait = engine.vitrine({"wait", id, "--out", out, "--progress"});
  INFO(wait.error);
  CHECK(wait.exit_code == 0);
  CHECK(wait.output == "job " + id + ": done, 3 proofs in " + out.string() + "\n");
  CHECK(wait.error.find("3/3 done  partition ") != std::string::npos);
  for (const std::string number : {"0", "1", "2"}) {
    const ProgramRun verify =
        run_vitrine({"verify", kData + "verification_key.json",
                     out / ("public." + number + ".json"), out / ("proof." + number + ".json")});
    INFO(verify.error);
    CHECK(verify.exit_code == 0);
  }
  const auto files = std::distance(std::filesystem::directory_iterator(out), {});
  CHECK(files == 6);
}

TEST_CASE("a device is released by its number", "[engine]") {
  const RunningEngine engine;
  const ProgramRun released = engine.vitrine({"device", "release", "0"});
  INFO(released.error);
  CHECK(released.exit_code == 0);
  CHECK(released.output == "device 0: released\n");
  const ProgramRun document = engine.vitrine({"device", "release", "0", "--json"});
  CHECK(document.output.find("\"state\":\"up\"") != std::string::npos);
  const ProgramRun absent = engine.vitrine({"device", "release", "9"});
  CHECK(absent.exit_code == 2);
  CHECK(absent.error.find("no device 9") != std::string::npos);
  CHECK(engine.vitrine({"device", "release", "first"}).exit_code == 2);
  CHECK(engine.vitrine({"device", "burn", "0"}).exit_code == 2);
  CHECK(engine.vitrine({"device"}).exit_code == 2);
}

// What takes an engine's place at its socket: it closes each connection.
class ClosingSocket {
 public:
  explicit ClosingSocket(const std::filesystem::path& path)
      : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    std::filesystem::remove(path);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.string().copy(address.sun_path, sizeof(address.sun_path) - 1);
    REQUIRE(::bind(socket_.number(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
    REQUIRE(::listen(socket_.number(), 8) == 0);
    thread_ = std::thread([this] {
      while (true) {
        const vitrine::shm::FileDescriptor client(::accept(socket_.number(), nullptr, nullptr));
        if (!client.is_open()) return;
      }
    });
  }
  ~ClosingSocket() {
    ::shutdown(socket_.number(), SHUT_RDWR);
    thread_.join();
  }

 private:
  vitrine::shm::FileDescriptor socket_;
  std::thread thread_;
};

TEST_CASE("an engine that lives and does not answer is busy: 8", "[engine]") {
  const RunningEngine engine;
  const std::string id = engine.submit(1);
  CHECK(engine.vitrine({"wait", id}).exit_code == 0);
  const ClosingSocket closing(engine.folder() / "vitrine" / "tools-test.sock");
  const std::vector<std::vector<std::string>> commands = {
      {"pause"}, {"wait", id}, {"srs"}, {"reload"}};
  for (const auto& command : commands) {
    const ProgramRun run = engine.vitrine(command);
    CHECK(run.exit_code == 8);
    CHECK(run.error.find(" lives, but closed the connection without an answer") !=
          std::string::npos);
  }
}

TEST_CASE("an engine that is killed while it is asked is away: 3", "[engine]") {
  RunningEngine engine;
  CHECK(engine.vitrine({"pause"}).exit_code == 0);
  const std::string id = engine.submit(1);
  auto waiting = std::async(std::launch::async, [&] {
    return engine.vitrine({"wait", id, "--json"});
  });
  // Before it has asked, the end is the same.
  (void)waiting.wait_for(std::chrono::milliseconds(300));
  engine.kill_it();
  const ProgramRun run = waiting.get();
  INFO(run.error);
  CHECK(run.exit_code == 3);
}

TEST_CASE("one partition writes proof.json and public.json", "[engine]") {
  const RunningEngine engine;
  const std::filesystem::path out = engine.folder() / "out";
  CHECK(engine.vitrine({"wait", engine.submit(1), "--out", out}).exit_code == 0);
  CHECK(std::filesystem::exists(out / "proof.json"));
  CHECK(std::filesystem::exists(out / "public.json"));
  CHECK_FALSE(std::filesystem::exists(out / "proof.bin"));
}

TEST_CASE("the jobs of a recording can be simulated", "[engine]") {
  const RunningEngine engine;
  const std::string recording = engine.folder() / "run.rec";
  const pid_t recorder = fork();
  if (recorder == 0) {
    execl(VITRINE_BIN "/vitrine", "vitrine", "record", "--segment", engine.segment().c_str(),
          "--out", recording.c_str(), "--interval", "10ms", nullptr);
    _exit(127);
  }
  const auto is_recording = [&] {
    std::error_code absent;
    return std::filesystem::file_size(recording, absent) > 4096 && !absent;
  };
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!is_recording() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  for (int i = 1; i <= 3; ++i) {
    CHECK(engine.vitrine({"wait", engine.submit(i)}).exit_code == 0);
  }
  ::kill(recorder, SIGTERM);
  waitpid(recorder, nullptr, 0);
  const ProgramRun load = run_vitrine({"load", "--file", recording});
  INFO(load.output << load.error);
  REQUIRE(load.exit_code == 0);
  CHECK_THAT(load.output, Catch::Contains("{\"circuit\":\"demo\",\"key_bytes\":") &&
                              Catch::Contains("\"partitions\":2,\"priority\":\"normal\"}"));
  CHECK_THAT(load.error, Catch::Contains("circuit bls: no partition was seen"));
  const std::string file = engine.folder() / "load.jsonl";
  std::ofstream(file) << load.output;
  const ProgramRun simulated = run_program({VITRINE_BIN "/vitrined", "--simulate", file, "--json"});
  INFO(simulated.output << simulated.error);
  REQUIRE(simulated.exit_code == 0);
  CHECK_THAT(simulated.output, Catch::Contains("\"done\":3"));
  CHECK(run_vitrine({"load", "--file", "/nowhere"}).exit_code == 3);
  CHECK(run_vitrine({"load", "--file", kData + "circuit.zkey"}).exit_code == 5);
}

TEST_CASE("proofs of BLS12-381 are also written in one file, compressed", "[engine]") {
  const RunningEngine engine;
  const std::filesystem::path out = engine.folder() / "out";
  const std::string witness = VITRINE_TEST_DATA "/bls12381/demo/witness.0.wtns";
  const ProgramRun submitted =
      engine.vitrine({"submit", "--circuit", "bls", "--wtns", witness, "--wtns", witness});
  REQUIRE(submitted.exit_code == 0);
  const std::string id = submitted.output.substr(0, submitted.output.find('\n'));
  CHECK(engine.vitrine({"wait", id, "--out", out}).exit_code == 0);
  CHECK(std::filesystem::exists(out / "proof.1.json"));
  CHECK(std::filesystem::file_size(out / "proof.bin") == 2 * 192);
}

TEST_CASE("work may be given right after the engine's start, also after another died", "[engine]") {
  RunningEngine engine{RunningEngine::StartedJustNow{}};
  CHECK(engine.vitrine({"wait", engine.submit(1)}).exit_code == 0);
  engine.kill_it();
  engine.start();
  CHECK(engine.vitrine({"wait", engine.submit(1)}).exit_code == 0);
}

TEST_CASE("work may be given to an engine that is only known by its socket's place", "[engine]") {
  RunningEngine engine{RunningEngine::StartedJustNow{}};
  const ProgramRun run = run_vitrine({"submit", "--instance", "tools-test", "--circuit", "demo",
                                      "--wtns", kData + "witness.0.wtns"},
                                     {"XDG_RUNTIME_DIR=" + engine.folder().string()});
  INFO(run.error);
  CHECK(run.exit_code == 0);
}

TEST_CASE("a cancelled job ends in 6, one that is still running at the time-out in 7", "[engine]") {
  const RunningEngine engine;
  const std::string id = engine.submit(256);
  const ProgramRun late = engine.vitrine({"wait", id, "--timeout", "0s"});
  CHECK(late.exit_code == 7);
  CHECK(late.error_is_one_line());
  CHECK(engine.vitrine({"cancel", id}).exit_code == 0);
  const ProgramRun cancelled = engine.vitrine({"wait", id});
  CHECK(cancelled.exit_code == 6);
  CHECK(cancelled.output.empty());
  CHECK(cancelled.error == "vitrine: job " + id + " cancelled: by a client\n");
  const ProgramRun json = engine.vitrine({"wait", id, "--json"});
  CHECK(json.exit_code == 6);
  CHECK(json.output.find("by a client") != std::string::npos);
  CHECK(json.error.empty());
}

TEST_CASE("an operator pauses, resumes and drains an engine", "[engine]") {
  const RunningEngine engine;
  const ProgramRun paused = engine.vitrine({"pause"});
  INFO(paused.error);
  CHECK(paused.exit_code == 0);
  CHECK(paused.output == "paused: nothing more starts until 'vitrine resume'\n");
  const std::string id = engine.submit(1);
  const ProgramRun why = engine.vitrine({"why", id});
  CHECK(why.output.find("waits for paused") != std::string::npos);
  CHECK(why.output.find("engine: paused by its operator") != std::string::npos);
  CHECK(engine.vitrine({"wait", id, "--timeout", "0s"}).exit_code == 7);
  CHECK(engine.vitrine({"resume", "--json"}).output == "{\"accepted\":\"resume\"}\n");
  CHECK(engine.vitrine({"wait", id}).exit_code == 0);
  CHECK(engine.vitrine({"drain"}).exit_code == 0);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (engine.vitrine({"show"}).exit_code != 4) {
    REQUIRE(std::chrono::steady_clock::now() < end);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  CHECK(engine.vitrine({"pause"}).exit_code == 3);
}

TEST_CASE("bad work is told apart: unknown circuit 2, bad witness 1, unknown job 9", "[engine]") {
  const RunningEngine engine;
  const std::string noise = file_in(engine.folder(), "noise.wtns", std::string(1 << 21, 'x'));
  const ProgramRun unknown = engine.vitrine({"submit", "--circuit", "nope", "--wtns", noise});
  CHECK(unknown.exit_code == 2);
  CHECK(unknown.error_is_one_line());
  CHECK(unknown.error.find("nope") != std::string::npos);

  const ProgramRun missing =
      engine.vitrine({"submit", "--circuit", "demo", "--wtns", "/no/such.wtns"});
  CHECK(missing.exit_code == 2);
  CHECK(missing.error.find("/no/such.wtns") != std::string::npos);

  const ProgramRun bad = engine.vitrine({"submit", "--circuit", "demo", "--wtns", noise});
  REQUIRE(bad.exit_code == 0);
  const ProgramRun wait = engine.vitrine({"wait", bad.output.substr(0, bad.output.size() - 1)});
  CHECK(wait.exit_code == 1);
  CHECK(wait.error_is_one_line());
  CHECK(wait.error.find("bad_input") != std::string::npos);

  CHECK(engine.vitrine({"wait", "99"}).exit_code == 9);
  CHECK(engine.vitrine({"cancel", "99"}).exit_code == 9);
}

TEST_CASE("a job has witnesses or inputs, and inputs need a circuit that takes them", "[engine]") {
  const RunningEngine engine;
  const std::string wtns = kData + "witness.1.wtns";
  const ProgramRun neither = engine.vitrine({"submit", "--circuit", "demo"});
  CHECK(neither.exit_code == 2);
  CHECK_THAT(neither.error, Catch::Matchers::Contains("--wtns or --input is required"));
  const ProgramRun both =
      engine.vitrine({"submit", "--circuit", "demo", "--wtns", wtns, "--input", wtns});
  CHECK(both.exit_code == 2);
  CHECK_THAT(both.error, Catch::Matchers::Contains("exclude each other"));
  const ProgramRun refused = engine.vitrine({"submit", "--circuit", "demo", "--input", wtns});
  CHECK(refused.exit_code == 8);
  CHECK_THAT(refused.error, Catch::Matchers::Contains("circuit demo has no witness_command"));
}

TEST_CASE("after kill -9 the last stages are shown and a new engine goes on", "[engine]") {
  RunningEngine engine;
  const std::string id = engine.submit(64);
  engine.kill_it();
  const ProgramRun show = engine.vitrine({"show"});
  CHECK(show.exit_code == 4);
  CHECK(show.output.find("  dead  ") != std::string::npos);
  CHECK(show.output.find(id) != std::string::npos);
  CHECK(engine.vitrine({"wait", id, "--timeout", "0s"}).exit_code == 3);
  CHECK(engine.vitrine({"submit", "--circuit", "demo", "--wtns", kData + "witness.0.wtns"})
            .exit_code == 3);
  engine.start();
  engine.wait_until_ready();
  CHECK(engine.vitrine({"wait", id, "--out", engine.folder() / "proofs"}).exit_code == 0);
  CHECK(std::filesystem::exists(engine.folder() / "proofs/proof.63.json"));
  CHECK(engine.vitrine({"wait", engine.submit(1)}).exit_code == 0);
}
