// SPDX-License-Identifier: Apache-2.0
#include "engine/command_run.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <thread>

#include "engine/command_start.h"
#include "engine/leftover_processes.h"

namespace vitrine::engine {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kErrorBytesKept = 4096;
constexpr auto kBetweenLooks = std::chrono::milliseconds(50);  // for a cancel or the deadline
constexpr auto kDeathPatience = std::chrono::seconds(10);      // with a process that was killed
constexpr auto kGroupPatience = std::chrono::seconds(1);       // with the others of its group
constexpr int kPiecesAtOnce = 16;                              // of what it says

// A started program until its end.
class RunningCommand {
 public:
  explicit RunningCommand(StartedCommand started)
      : process_(started.process),
        errors_(std::move(started.errors)),
        end_seen_(static_cast<int>(::syscall(SYS_pidfd_open, started.process, 0))) {}
  RunningCommand(const RunningCommand&) = delete;
  RunningCommand& operator=(const RunningCommand&) = delete;
  ~RunningCommand() {
    if (process_ > 0) end_it();
  }

  // False at the deadline, or when `is_enough` says so.
  template <class IsEnough>
  bool await_end(Clock::time_point deadline, IsEnough is_enough) {
    while (!has_ended()) {
      if (is_enough() || Clock::now() >= deadline) return false;
      look(kBetweenLooks);
    }
    return true;
  }

  // One that even this does not end, as the kernel does not let go of it, is left alone.
  CommandEnd end_it() {
    kill_group();
    if (await_end(Clock::now() + kDeathPatience, [] { return false; })) return reap();
    process_ = -1;
    return {};
  }

  // How it ended. Requires: await_end() was true.
  CommandEnd reap() {
    kill_group();  // what it left running
    CommandEnd end;
    take_errors();
    end.errors = kept_;
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    reap_group();
    process_ = -1;
    const bool is_struck = WIFSIGNALED(status);
    end.kind = is_struck ? CommandEnd::Kind::kStruck : CommandEnd::Kind::kExited;
    end.number = is_struck ? WTERMSIG(status) : WEXITSTATUS(status);
    return end;
  }

 private:
  // Its leader is not reaped yet, so the group's number is still its own.
  void kill_group() const { ::kill(-process_, SIGKILL); }

  bool has_ended() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == process_;
  }

  void look(std::chrono::milliseconds patience) {
    std::array<pollfd, 2> watched{};
    watched[0] = {end_seen_.number(), POLLIN, 0};
    watched[1] = {errors_.number(), POLLIN, 0};
    if (::poll(watched.data(), watched.size(), static_cast<int>(patience.count())) > 0 &&
        watched[1].revents != 0) {
      take_errors();
    }
  }

  void take_errors() {
    std::array<char, 4096> piece;
    for (int pieces = 0; pieces < kPiecesAtOnce && errors_.is_open(); ++pieces) {
      const ssize_t got = ::read(errors_.number(), piece.data(), piece.size());
      if (got < 0) return;
      if (got == 0) errors_ = shm::FileDescriptor();
      kept_.append(piece.data(), static_cast<std::size_t>(got));
      if (kept_.size() > kErrorBytesKept) kept_.erase(0, kept_.size() - kErrorBytesKept);
    }
  }

  // As the first process of a container we are now the parent of those that were killed with it.
  void reap_group() const {
    const auto deadline = Clock::now() + kGroupPatience;
    while (::waitpid(-process_, nullptr, WNOHANG) >= 0 && Clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  pid_t process_;
  shm::FileDescriptor errors_;
  shm::FileDescriptor end_seen_;  // not open where the kernel has none: looks are enough
  std::string kept_;
};

}  // namespace

Result<CommandEnd> run_command(const Command& command, Clock::time_point deadline,
                               const std::atomic<bool>& cancelled) {
  auto started = start_command(command);
  if (!started) return started.error();
  RunningCommand running(std::move(*started));
  const auto is_cancelled = [&] { return cancelled.load(std::memory_order_relaxed); };
  const bool has_ended = running.await_end(deadline, is_cancelled);
  CommandEnd end = has_ended ? running.reap() : running.end_it();
  if (!has_ended) {
    end.kind = is_cancelled() ? CommandEnd::Kind::kCancelled : CommandEnd::Kind::kLate;
  }
  end_leftovers(command.folder);  // what left its group
  return end;
}

}  // namespace vitrine::engine
