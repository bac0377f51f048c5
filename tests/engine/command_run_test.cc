// SPDX-License-Identifier: Apache-2.0
#include "engine/command_run.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <functional>
#include <thread>

#include "engine/leftover_processes.h"
#include "engine/spool.h"
#include "engine/telling_line.h"
#include "tests/engine/container_bytes.h"
#include "tests/engine/witness_script.h"

namespace vitrine::engine::testing {
namespace {

using Catch::Matchers::Contains;
using Clock = std::chrono::steady_clock;
using Kind = CommandEnd::Kind;

constexpr auto kPatience = std::chrono::seconds(30);

class Shell {
 public:
  explicit Shell(std::string text) : text_(std::move(text)) {}

  Result<CommandEnd> run(std::chrono::milliseconds patience = kPatience) {
    return run_command({"/bin/sh", {"sh", "-c", text_}, folder.path(), file_bytes_max},
                       Clock::now() + patience, cancelled);
  }

  ScratchFolder folder;
  std::uint64_t file_bytes_max = 1 << 20;
  std::atomic<bool> cancelled{false};

 private:
  std::string text_;
};

void await(const std::function<bool()>& condition) {
  const auto deadline = Clock::now() + kPatience;
  while (!condition()) {
    REQUIRE(Clock::now() < deadline);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// A number that a script wrote, with the line's end.
pid_t process_in(const std::filesystem::path& file) {
  std::string text;
  await([&] {
    text = std::filesystem::exists(file) ? read_file(file) : "";
    return text.ends_with('\n');
  });
  return std::stoi(text);
}

// A process that has ended but is not reaped by its new parent yet counts as gone.
bool is_gone(pid_t process) {
  const auto stat = std::filesystem::path("/proc") / std::to_string(process) / "stat";
  if (!std::filesystem::exists(stat)) return true;
  std::ifstream file(stat);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  return text.empty() || text.find(") Z ") != std::string::npos;
}

bool has_children() { return ::waitpid(-1, nullptr, WNOHANG) == 0; }

TEST_CASE("a command ends with its exit code and the last of what it wrote as errors") {
  Shell shell("i=0; while [ $i -lt 2000 ]; do echo line $i >&2; i=$((i+1)); done; exit 3");
  const CommandEnd end = shell.run().value();
  CHECK(end.kind == Kind::kExited);
  CHECK(end.number == 3);
  CHECK(end.errors.size() <= 4096);
  CHECK_THAT(end.errors, Catch::Matchers::EndsWith("line 1998\nline 1999\n"));
}

TEST_CASE("a command sees nothing of the engine but what it is given") {
  const ScratchFolder secrets;
  std::ofstream(secrets / "secret") << "secret";
  const int inherited = ::open((secrets / "secret").c_str(), O_RDONLY);  // without O_CLOEXEC
  REQUIRE(inherited > 2);
  ::setenv("VITRINE_TEST_SECRET", "secret", 1);
  ::signal(SIGPIPE, SIG_IGN);
  Shell shell(R"(
    env >env
    ls /proc/$$/fd >fds
    ends=$(readlink /proc/$$/fd/0 /proc/$$/fd/1)
    echo "$ends" >ends
    pwd >pwd
    umask >umask
    ulimit -c >core
    grep -e SigBlk -e SigIgn /proc/self/status >signals
    set -- $(cat /proc/$$/stat)
    echo $1 >own
    echo $5 >group
    echo $6 >session
  )");
  sigset_t some;
  ::sigemptyset(&some);
  ::sigaddset(&some, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &some, nullptr);
  const CommandEnd end = shell.run().value();
  ::pthread_sigmask(SIG_UNBLOCK, &some, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::close(inherited);
  ::unsetenv("VITRINE_TEST_SECRET");
  CHECK(end.number == 0);
  const auto wrote = [&](const char* name) { return read_file(shell.folder / name); };
  const std::string folder = shell.folder.path();
  CHECK_THAT(wrote("env"), Contains("HOME=" + folder + "\n") && Contains("TMPDIR=" + folder) &&
                               Contains("LANG=C\n") && Contains("PATH=") && !Contains("SECRET"));
  CHECK(wrote("ends") == "/dev/null\n/dev/null\n");
  CHECK_THAT(wrote("fds"), !Contains("\n" + std::to_string(inherited) + "\n"));
  CHECK(wrote("group") == wrote("own"));
  CHECK(wrote("session") == wrote("own"));
  CHECK(wrote("pwd") == folder + "\n");
  CHECK(wrote("umask") == "0077\n");
  CHECK(wrote("core") == "0\n");
  CHECK_THAT(wrote("signals"),
             Contains("SigBlk:\t0000000000000000\n") && Contains("SigIgn:\t0000000000000000\n"));
  struct stat made {};
  REQUIRE(::stat((shell.folder / "env").c_str(), &made) == 0);
  CHECK((made.st_mode & 0777) == 0600);
}

TEST_CASE("a command that is struck by a signal says which") {
  const CommandEnd end = Shell("kill -ABRT $$").run().value();
  CHECK(end.kind == Kind::kStruck);
  CHECK(end.number == SIGABRT);
}

TEST_CASE("a program that cannot be started is an error that names it, and leaves nothing") {
  const ScratchFolder folder;
  const std::atomic<bool> cancelled{false};
  std::ofstream(folder / "text") << "no program";
  std::filesystem::permissions(folder / "text", std::filesystem::perms::owner_all);
  for (const std::filesystem::path& program : {folder / "none", folder / "text"}) {
    const auto end =
        run_command({program, {"x"}, folder.path(), 4096}, Clock::now() + kPatience, cancelled);
    REQUIRE(end.has_error());
    CHECK(end.error().error_class == ErrorClass::kInternal);
    CHECK_THAT(end.error().text, Contains(program.string() + ": "));
  }
  const auto nowhere = run_command({"/bin/true", {"true"}, folder / "none", 4096},
                                   Clock::now() + kPatience, cancelled);
  CHECK(nowhere.has_error());
  CHECK_FALSE(has_children());
}

TEST_CASE("a late command is killed with the children that will not end by themselves") {
  Shell shell("trap '' TERM HUP INT; (trap '' TERM HUP INT; sleep 600) & echo $! >child; wait");
  CHECK(shell.run(std::chrono::milliseconds(500)).value().kind == Kind::kLate);
  const pid_t child = process_in(shell.folder / "child");
  await([&] { return is_gone(child); });
  CHECK_FALSE(has_children());
}

TEST_CASE("what a command leaves running is killed when it ends") {
  Shell shell("(trap '' TERM HUP INT; sleep 600) & echo $! >child");
  const CommandEnd end = shell.run().value();
  CHECK(end.kind == Kind::kExited);
  const pid_t child = process_in(shell.folder / "child");
  await([&] { return is_gone(child); });
  CHECK_FALSE(has_children());
}

TEST_CASE("what a command starts in sessions of their own is killed with it, whatever its end") {
  const std::string daemon = "setsid sh -c 'trap \"\" TERM HUP; echo $$ >daemon; sleep 600' & ";
  const std::string chain = "setsid sh -c 'setsid sh -c \"echo \\$\\$ >chain; sleep 600\" &' & ";
  const std::string written = "while [ ! -s daemon ] || [ ! -s chain ]; do sleep 0.01; done; ";
  const std::string wait = "echo $$ >ready; sleep 600";
  for (const auto& [last, kind] : {std::pair<std::string, Kind>{"exit 1", Kind::kExited},
                                   {"kill -ABRT $$", Kind::kStruck},
                                   {wait, Kind::kCancelled}}) {
    INFO(last);
    Shell shell(daemon + chain + written + last);
    std::thread client([&, is_to_cancel = kind == Kind::kCancelled] {
      if (!is_to_cancel) return;
      (void)process_in(shell.folder / "ready");
      shell.cancelled = true;
    });
    CHECK(shell.run().value().kind == kind);
    client.join();
    CHECK(is_gone(process_in(shell.folder / "daemon")));
    CHECK(is_gone(process_in(shell.folder / "chain")));
  }
}

TEST_CASE("a command ends nothing that lives in another folder") {
  Shell shell("exit 0");
  const ScratchFolder other;
  const pid_t neighbour = ::fork();
  if (neighbour == 0) {
    const std::string home = "HOME=" + other.path().string();
    ::execle("/bin/sleep", "sleep", "600", nullptr,
             std::vector<const char*>{home.c_str(), nullptr}.data());
    ::_exit(1);
  }
  CHECK(shell.run().value().kind == Kind::kExited);
  CHECK_FALSE(is_gone(neighbour));
  ::kill(neighbour, SIGKILL);
  CHECK(::waitpid(neighbour, nullptr, 0) == neighbour);
}

TEST_CASE("a cancelled command is killed though it ignores signals and floods its errors") {
  Shell shell("trap '' TERM; echo $$ >own; while :; do echo xxxxxxxxxxxxxxxxxxxxxx; done >&2");
  std::thread client([&] {
    (void)process_in(shell.folder / "own");
    shell.cancelled = true;
  });
  const CommandEnd end = shell.run().value();
  client.join();
  CHECK(end.kind == Kind::kCancelled);
  CHECK(is_gone(process_in(shell.folder / "own")));
}

TEST_CASE("a command cannot fill the disk") {
  Shell shell("trap '' XFSZ; head -c 100000 /dev/zero >big");
  shell.file_bytes_max = 4096;
  CHECK(shell.run().value().number != 0);
  CHECK(std::filesystem::file_size(shell.folder / "big") == 4096);
}

TEST_CASE("a command dies with the thread that runs it") {
  // Another process, since a thread that waits cannot be ended.
  const ScratchFolder folder;
  const pid_t engine = ::fork();
  if (engine == 0) {
    const std::atomic<bool> cancelled{false};
    (void)run_command(
        {"/bin/sh", {"sh", "-c", "echo $$ >own; exec sleep 600"}, folder.path(), 4096},
        Clock::now() + std::chrono::minutes(10), cancelled);
    ::_exit(0);
  }
  const pid_t command = process_in(folder / "own");
  ::kill(engine, SIGKILL);
  REQUIRE(::waitpid(engine, nullptr, 0) == engine);
  await([&] { return is_gone(command); });
}

TEST_CASE("a start ends what runs in the folders that a killed engine left, and removes them") {
  const ScratchFolder scratch;
  const auto work = scratch / "spool/7.work";
  std::filesystem::create_directories(work);
  const pid_t engine = ::fork();
  if (engine == 0) {
    const std::atomic<bool> cancelled{false};
    const std::string text =
        "(trap '' TERM; sleep 600) & echo $! >" + (scratch / "child").string() + "; wait";
    (void)run_command({"/bin/sh", {"sh", "-c", text}, work, 4096},
                      Clock::now() + std::chrono::minutes(10), cancelled);
    ::_exit(0);
  }
  const pid_t child = process_in(scratch / "child");
  ::kill(engine, SIGKILL);
  REQUIRE(::waitpid(engine, nullptr, 0) == engine);
  CHECK_FALSE(is_gone(child));
  Spool::open(scratch / "spool", 4096).value()->remove_orphans();
  CHECK(is_gone(child));
  CHECK_FALSE(std::filesystem::exists(work));
}

TEST_CASE("what a program writes for its terminal does not hide why it failed") {
  const std::string cause = "Error: assert failed";
  for (const std::string sequence :
       {"\x1b[31m", "\x1b[K", "\x1b[2K", "\x1b[2J", "\x1b[1;1H", "\x1b[?25l", "\x1b(B",
        "\x1b"
        "7",
        "\x1b=", "\x1b]0;a title\a", "\x1b]8;;http://host/m\x1b\\", "\x1bPmore\x1b\\", "\x1b"}) {
    INFO(sequence.substr(1));
    CHECK(telling_line("one\n" + sequence + "\n" + cause + "\n") == cause);
    if (sequence.size() == 1) continue;
    CHECK(telling_line(sequence + cause + "\n") == cause);
    CHECK(telling_line(sequence + "Error:" + sequence + " assert failed" + sequence) == cause);
  }
  // What is cut off, or no sequence at all, takes nothing along but itself.
  CHECK(telling_line("\x1b[3\n" + cause) == cause);
  CHECK(telling_line("\x1b]0;a title without an end\n" + cause) == cause);
  CHECK(telling_line(cause + "\x1b[3") == cause);
}

TEST_CASE("a lone carriage return ends a line, as a bar of progress has it") {
  CHECK(telling_line(" 10 %\r 50 %\rError: no such signal\r") == "Error: no such signal");
  CHECK(telling_line("Error: no such signal\r100 %\r\n") == "Error: no such signal");
  CHECK(telling_line("10 %\r\x1b[K20 %\r\n") == "20 %");
}

TEST_CASE("the line that is shown of a command's errors is the one that tells most") {
  CHECK(telling_line("").empty());
  CHECK(telling_line("one\n\n  two \n\n") == "two");
  CHECK(telling_line("Error: Assert Failed.\n    at x (y.js:1:2)\n\nNode.js v20.1.0\n") ==
        "Error: Assert Failed.");
  CHECK(telling_line("\x1b[31;22m[ERROR] \x1b[39;22mpeer\x1b[0m: Scalar size\n") ==
        "[ERROR] peer: Scalar size");
  CHECK(telling_line("a\tb\x01\xff") == "a\\x09b\\x01\\xff");
  const std::string long_line = telling_line(std::string(1000, 'x'));
  CHECK(long_line.size() <= 160);
  CHECK_THAT(long_line, Catch::Matchers::EndsWith("\xE2\x80\xA6"));
}

}  // namespace
}  // namespace vitrine::engine::testing
