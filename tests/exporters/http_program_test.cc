// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "exporters/listen_socket.h"
#include "tests/exporters/beating_engine.h"
#include "tests/exporters/raw_client.h"

extern char** environ;

namespace vitrine::exporters::testing {

namespace {

// vitrine-http as a process of its own. Ended with the test, whatever happens.
class Program {
 public:
  explicit Program(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), VITRINE_BIN "/vitrine-http");
    int out[2], err[2];
    REQUIRE(pipe2(out, O_CLOEXEC) == 0);
    REQUIRE(pipe2(err, O_CLOEXEC) == 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_adddup2(&actions, err[1], 2);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    REQUIRE(posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ) == 0);
    posix_spawn_file_actions_destroy(&actions);
    close(out[1]);
    close(err[1]);
    out_ = out[0];
    err_ = err[0];
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    close(out_);
    close(err_);
  }

  // The next line of standard output, without its end.
  std::string read_line() {
    std::string line;
    char byte;
    while (read(out_, &byte, 1) == 1 && byte != '\n') line += byte;
    return line;
  }
  std::string read_errors() { return read_all(err_); }
  std::string read_output() { return read_all(out_); }

  void stop(int signal_number) { REQUIRE(kill(pid_, signal_number) == 0); }
  int wait_for_exit() {
    int status = 0;
    REQUIRE(waitpid(pid_, &status, 0) == pid_);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  static std::string read_all(int descriptor) {
    std::string text;
    char bytes[4096];
    for (ssize_t count; (count = read(descriptor, bytes, sizeof bytes)) > 0;) {
      text.append(bytes, static_cast<std::size_t>(count));
    }
    return text;
  }

  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
};

std::uint16_t port_in(const std::string& line) {
  const std::string prefix = "listening on http://127.0.0.1:";
  REQUIRE(line.rfind(prefix, 0) == 0);
  return static_cast<std::uint16_t>(std::stoul(line.substr(prefix.size())));
}

// Ends with exit code 2 and one line that holds `named`.
void check_refused(const std::vector<std::string>& arguments, const std::string& named) {
  Program program(arguments);
  const std::string errors = program.read_errors();
  INFO(errors);
  CHECK(program.wait_for_exit() == 2);
  CHECK(errors.rfind("vitrine-http: ", 0) == 0);
  CHECK(errors.find('\n') == errors.size() - 1);
  CHECK(errors.find(named) != std::string::npos);
}

}  // namespace

TEST_CASE("vitrine-http prints the address it is bound to and shows an engine that comes later") {
  SharedScratchFolder directory;
  const std::string segment = directory / "main.segment";
  Program program({"--listen", "127.0.0.1:0", "--segment", segment});
  const std::uint16_t port = port_in(program.read_line());
  CHECK(RawClient(port).ask(get_request("/readyz")).status == 503);
  BeatingEngine engine(segment);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  int status = 0;
  while (status != 200 && std::chrono::steady_clock::now() < deadline) {
    status = RawClient(port).ask(get_request("/readyz")).status;
  }
  CHECK(status == 200);
  CHECK(RawClient(port).ask(get_request("/status")).status == 200);
}

TEST_CASE("vitrine-http ends with exit code 0 on SIGTERM and SIGINT, also with clients attached") {
  const int signal_number = GENERATE(SIGTERM, SIGINT);
  Program program({"--listen", "127.0.0.1:0", "--instance", "nobody-there"});
  RawClient idle(port_in(program.read_line()));
  CHECK(idle.ask(get_request("/livez")).status == 200);
  program.stop(signal_number);
  CHECK(idle.is_ended());
  CHECK(program.wait_for_exit() == 0);
}

TEST_CASE("vitrine-http refuses what it does not understand in one line") {
  check_refused({"--no-such-flag"}, "--no-such-flag");
  check_refused({"--instance", "Not A Name"}, "Not A Name");
  check_refused({"--log-level", "loud"}, "loud");
  check_refused({"--listen", "localhost"}, "localhost");
  check_refused({"surplus"}, "surplus");
}

TEST_CASE("vitrine-http names what it was given in harmless characters") {
  check_refused({"--instance", "a\x1b[31m\nb"}, "a\\x1b[31m b");
  check_refused({"--owner", "no-such-user\x1b"}, "no-such-user\\x1b");
}

TEST_CASE("vitrine-http shows an engine that is not in a tmpfs when asked to") {
  ScratchFolder directory;
  const std::string segment = directory / "main.segment";
  BeatingEngine engine(segment);
  Program program(
      {"--listen", "127.0.0.1:0", "--segment", segment, "--any-filesystem", "--owner", "0"});
  CHECK(RawClient(port_in(program.read_line())).ask(get_request("/readyz")).status == 200);
}

TEST_CASE("vitrine-http says when its output cannot be written, and exit 1") {
  const ScratchFolder scratch;
  const std::string node = scratch / "full";
  if (mknod(node.c_str(), S_IFCHR | 0600, makedev(1, 7)) != 0 || access(node.c_str(), W_OK) != 0) {
    WARN("not tested: device nodes cannot be made here");
    return;
  }
  for (const std::string arguments : {"--help", "--listen 127.0.0.1:0"}) {
    const std::string command = VITRINE_BIN "/vitrine-http " + arguments + " >" + node + " 2>" +
                                (scratch / "stderr").string();
    const int status = std::system(command.c_str());
    CHECK(WEXITSTATUS(status) == 1);
    std::ifstream errors(scratch / "stderr");
    std::string line;
    std::getline(errors, line);
    CHECK(line == "vitrine-http: writing the output: No space left on device");
  }
}

TEST_CASE("vitrine-http is not reachable from other machines unless that is asked for") {
  check_refused({"--listen", "0.0.0.0:0"}, "--allow-remote");
  check_refused({"--listen", "127.0.0.1:0", "--listen", "[::]:0"}, "--allow-remote");
  Program program({"--listen", "0.0.0.0:0", "--allow-remote"});
  CHECK(program.read_line().rfind("listening on http://0.0.0.0:", 0) == 0);
}

TEST_CASE("vitrine-http names the address that is taken") {
  const auto taken = ListenSocket::bind(parse_listen_address("127.0.0.1:0").value());
  REQUIRE(taken.has_value());
  const std::string address = taken->address().text();
  check_refused({"--listen", address}, address);
}

TEST_CASE("vitrine-http listens on a Unix socket, and takes over one that was left behind") {
  SharedScratchFolder directory;
  const std::string path = directory / "http.sock";
  for (int run = 0; run < 2; ++run) {
    Program program({"--listen", "unix:" + path});
    CHECK(program.read_line() == "listening on unix:" + path);
    CHECK(RawClient(path).ask(get_request("/livez")).status == 200);
    check_refused({"--listen", "unix:" + path}, path);
    program.stop(run == 0 ? SIGKILL : SIGTERM);
    program.wait_for_exit();
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("vitrine-http says its version and its flags") {
  Program version({"--version"});
  CHECK(version.read_output() == "vitrine-http " VITRINE_VERSION "\n");
  CHECK(version.wait_for_exit() == 0);
  Program help({"--help"});
  CHECK(help.read_output().find("--allow-remote") != std::string::npos);
  CHECK(help.wait_for_exit() == 0);
}

TEST_CASE("vitrine-http logs as JSON when asked to") {
  Program program({"--listen", "127.0.0.1:0", "--instance", "nobody", "--log-format", "json"});
  program.read_line();
  program.stop(SIGTERM);
  const std::string log = program.read_errors();
  CHECK(program.wait_for_exit() == 0);
  CHECK(log.find(R"("level":"info","program":"vitrine-http","message":"stopping")") !=
        std::string::npos);
}

}  // namespace vitrine::exporters::testing
