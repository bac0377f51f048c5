// SPDX-License-Identifier: Apache-2.0
#include "tests/tools/program_run.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace vitrine::tests {
namespace {

struct Pipe {
  std::array<int, 2> ends{-1, -1};
  Pipe() {
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
  }
  ~Pipe() {
    for (int end : ends) {
      if (end >= 0) close(end);
    }
  }
  void close_writer() { close(std::exchange(ends[1], -1)); }
};

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

[[noreturn]] void become(std::vector<std::string> arguments,
                         const std::vector<std::string>& environment, const Pipe& output,
                         const Pipe& error) {
  for (const std::string& setting : environment) {
    const std::size_t split = setting.find('=');
    setenv(setting.substr(0, split).c_str(), setting.substr(split + 1).c_str(), 1);
  }
  dup2(output.ends[1], STDOUT_FILENO);
  dup2(error.ends[1], STDERR_FILENO);
  alarm(30);
  execv(arguments[0].c_str(), pointers_to(arguments).data());
  _exit(127);
}

// Reads both until their writers are gone, so that neither can fill up and block the program.
void drain(const Pipe& output, const Pipe& error, ProgramRun& run) {
  std::array<pollfd, 2> sources{{{output.ends[0], POLLIN, 0}, {error.ends[0], POLLIN, 0}}};
  std::array<std::string*, 2> texts{&run.output, &run.error};
  while (sources[0].fd >= 0 || sources[1].fd >= 0) {
    poll(sources.data(), sources.size(), -1);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (sources[i].fd < 0 || sources[i].revents == 0) continue;
      std::array<char, 4096> bytes;
      const ssize_t count = read(sources[i].fd, bytes.data(), bytes.size());
      if (count > 0) texts[i]->append(bytes.data(), static_cast<std::size_t>(count));
      if (count <= 0) sources[i].fd = -1;
    }
  }
}

}  // namespace

bool ProgramRun::error_is_one_line() const {
  return !error.empty() && std::count(error.begin(), error.end(), '\n') == 1 &&
         error.back() == '\n';
}

ProgramRun run_program(const std::vector<std::string>& arguments,
                       const std::vector<std::string>& environment) {
  Pipe output;
  Pipe error;
  const pid_t child = fork();
  if (child == 0) become(arguments, environment, output, error);
  output.close_writer();
  error.close_writer();
  ProgramRun run;
  drain(output, error, run);
  int status = 0;
  waitpid(child, &status, 0);
  run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return run;
}

ProgramRun run_vitrine(std::vector<std::string> arguments,
                       const std::vector<std::string>& environment) {
  arguments.insert(arguments.begin(), VITRINE_BIN "/vitrine");
  std::vector<std::string> settings = {"LC_ALL=C"};
  settings.insert(settings.end(), environment.begin(), environment.end());
  return run_program(arguments, settings);
}

}  // namespace vitrine::tests
