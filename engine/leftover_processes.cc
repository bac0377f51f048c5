// SPDX-License-Identifier: Apache-2.0
#include "engine/leftover_processes.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <optional>
#include <string>

#include "shm/file_descriptor.h"

namespace vitrine::engine {
namespace {

constexpr std::size_t kEnvironmentBytesMax = std::size_t{64} << 10;
constexpr int kLeftoverPatienceMs = 1000;  // with one that was killed

std::optional<pid_t> process_of(const std::filesystem::path& folder) {
  const std::string name = folder.filename();
  pid_t process = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), process);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return process;
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
  const std::string wanted = std::string(1, '\0') + "HOME=" + home.string() + std::string(1, '\0');
  return environment_of(folder).find(wanted) != std::string::npos;
}

}  // namespace

std::size_t end_leftovers(const std::filesystem::path& home) {
  std::size_t ended = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const auto process = process_of(entry.path());
    if (!process || !lives_in(entry.path(), home)) continue;
    // Taken before the second look: from then on the number is that process.
    const shm::FileDescriptor held(static_cast<int>(::syscall(SYS_pidfd_open, *process, 0)));
    if (!held.is_open() || !lives_in(entry.path(), home)) continue;
    if (::syscall(SYS_pidfd_send_signal, held.number(), SIGKILL, nullptr, 0) != 0) continue;
    ++ended;
    pollfd end{held.number(), POLLIN, 0};
    ::poll(&end, 1, kLeftoverPatienceMs);
  }
  return ended;
}

}  // namespace vitrine::engine
