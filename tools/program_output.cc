// SPDX-License-Identifier: Apache-2.0
#include "tools/program_output.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "shm/clock.h"
#include "shm/file_descriptor.h"

namespace vitrine::tools {
namespace {

class SpawnPlan {
 public:
  explicit SpawnPlan(int output) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, output, STDERR_FILENO);
    posix_spawnattr_init(&attributes_);
    sigset_t ignored_here;
    sigemptyset(&ignored_here);
    sigaddset(&ignored_here, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes_, &ignored_here);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  int run(pid_t& child, std::vector<char*>& arguments) {
    return posix_spawnp(&child, arguments[0], &actions_, &attributes_, arguments.data(), environ);
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// False when the time was over before the end.
bool read_until(int source, std::uint64_t end_ns, std::size_t limit, std::string& text) {
  while (text.size() < limit) {
    const std::uint64_t now_ns = shm::monotonic_ns();
    if (now_ns >= end_ns) return false;
    pollfd state{source, POLLIN, 0};
    const auto left_ms = static_cast<int>((end_ns - now_ns) / 1'000'000 + 1);
    if (::poll(&state, 1, left_ms) <= 0) continue;
    std::array<char, 4096> bytes;
    const ssize_t count = ::read(source, bytes.data(), std::min(bytes.size(), limit - text.size()));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return true;
    text.append(bytes.data(), static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace

Result<std::string> output_of_program(const std::vector<std::string>& arguments,
                                      std::uint64_t deadline_ns, std::size_t limit) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Error{ExitCode::kFailed, arguments[0] + ": " + std::strerror(errno)};
  }
  const shm::FileDescriptor source(ends[0]);
  std::vector<std::string> words = arguments;
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  pid_t child = -1;
  int problem = 0;
  {
    const shm::FileDescriptor sink(ends[1]);
    problem = SpawnPlan(sink.number()).run(child, pointers);
  }
  if (problem != 0) return Error{ExitCode::kFailed, arguments[0] + ": " + std::strerror(problem)};
  std::string text;
  const bool has_ended =
      read_until(source.number(), shm::monotonic_ns() + deadline_ns, limit, text);
  // It has closed its output or is to say no more: either way it has nothing left to do.
  ::kill(child, SIGKILL);
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (!has_ended) return Error{ExitCode::kFailed, arguments[0] + ": took too long"};
  return text;
}

}  // namespace vitrine::tools
