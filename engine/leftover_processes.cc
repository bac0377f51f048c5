// SPDX-License-Identifier: Apache-2.0
#include "engine/leftover_processes.h"

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "shm/file_descriptor.h"

namespace vitrine::engine {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kEnvironmentBytesMax = std::size_t{64} << 10;
constexpr auto kPatience = std::chrono::seconds(2);  // with those that start others, or do not end

struct Leftover {
  pid_t process = 0;
  shm::FileDescriptor held;
};

std::optional<pid_t> process_of(const std::filesystem::path& folder) {
  const std::string name = folder.filename();
  pid_t process = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), process);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return process;
}

bool is_of_this_user(const std::filesystem::path& folder) {
  struct stat found {};
  return ::stat(folder.c_str(), &found) == 0 && found.st_uid == ::geteuid();
}

// The first of its variables; those of a command are few.
std::string environment_of(const std::filesystem::path& folder) {
  std::ifstream file(folder / "environ", std::ios::binary);
  std::string text(kEnvironmentBytesMax, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return std::string(1, '\0') + text;
}

bool lives_in(const std::filesystem::path& folder, const std::filesystem::path& home) {
  const std::string environment = environment_of(folder);
  for (const char* name : {"HOME=", "TMPDIR="}) {
    const std::string wanted = std::string(1, '\0') + name + home.string() + std::string(1, '\0');
    if (environment.find(wanted) != std::string::npos) return true;
  }
  return false;
}

// Those that were there and are killed now.
std::vector<Leftover> kill_leftovers(const std::filesystem::path& home) {
  std::vector<Leftover> killed;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const auto process = process_of(entry.path());
    if (!process || !is_of_this_user(entry.path()) || !lives_in(entry.path(), home)) continue;
    // Taken before the second look: from then on the number is that process.
    shm::FileDescriptor held(static_cast<int>(::syscall(SYS_pidfd_open, *process, 0)));
    if (!held.is_open() || !lives_in(entry.path(), home)) continue;
    if (::syscall(SYS_pidfd_send_signal, held.number(), SIGKILL, nullptr, 0) != 0) continue;
    killed.push_back({*process, std::move(held)});
  }
  return killed;
}

void await_end(const Leftover& leftover, Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  pollfd end{leftover.held.number(), POLLIN, 0};
  if (::poll(&end, 1, static_cast<int>(std::max<std::int64_t>(0, left.count()))) != 1) return;
  ::waitpid(leftover.process, nullptr, WNOHANG);  // ours as the first process of a container
}

}  // namespace

std::size_t end_leftovers(const std::filesystem::path& home) {
  const auto deadline = Clock::now() + kPatience;
  std::size_t ended = 0;
  // One that was just killed may have started another before.
  for (auto killed = kill_leftovers(home); !killed.empty(); killed = kill_leftovers(home)) {
    ended += killed.size();
    for (const Leftover& leftover : killed) await_end(leftover, deadline);
    if (Clock::now() >= deadline) break;
  }
  return ended;
}

}  // namespace vitrine::engine
