// SPDX-License-Identifier: Apache-2.0
#include "tools/engine_socket.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "shm/attachment.h"
#include "shm/clock.h"
#include "shm/file_descriptor.h"
#include "tools/engine_connection.h"
#include "tools/status_command.h"

namespace vitrine::tools {
namespace {

constexpr auto kLookEvery = std::chrono::milliseconds(20);
constexpr std::uint64_t kDeathShowsNs = 1'000'000'000;

// False when there is no socket, or nobody behind it: an engine may yet come. Any other fault is
// for the client to tell.
bool may_answer(const std::filesystem::path& path) {
  const auto address = unix_address(path);
  if (!address) return true;
  const shm::FileDescriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!probe.is_open()) return true;
  const auto* where = reinterpret_cast<const sockaddr*>(&*address);
  if (::connect(probe.number(), where, sizeof(*address)) == 0) return true;
  return errno != ENOENT && errno != ECONNREFUSED;
}

// What the engine's segment says.
Result<std::filesystem::path> socket_of(const shm::Observation& observation) {
  const std::string& instance = observation.identity.instance;
  const shm::Verdict& verdict = observation.verdict;
  if (!observation.snapshot) return Error{ExitCode::kNoEngine, verdict.reason};
  if (verdict.word == shm::VerdictWord::kDead || verdict.word == shm::VerdictWord::kExited) {
    return Error{ExitCode::kNoEngine, "no engine: instance " + instance + " is " +
                                          std::string(shm::word(verdict.word)) + ": " +
                                          verdict.reason};
  }
  const std::string& socket = observation.identity.api_socket_path;
  if (socket.empty()) {
    return Error{ExitCode::kNoEngine, "the engine of instance " + instance + " takes no work"};
  }
  return std::filesystem::path(socket);
}

// Whether an engine that ended a connection is there all the same, as its segment says. One that
// ends closes its sockets before the kernel drops its lock on the segment, so it is looked at for a
// moment; and one that drains may be about to end.
bool stays_alive(const CommonFlags& flags) {
  const std::uint64_t end_ns = shm::monotonic_ns() + kDeathShowsNs;
  shm::Attachment attachment(target_of(flags, {}));
  while (true) {
    const shm::Observation& observation = attachment.observe();
    const shm::VerdictWord word = observation.verdict.word;
    const bool is_there = observation.snapshot && word >= shm::VerdictWord::kHung &&
                          word != shm::VerdictWord::kDraining;
    if (!is_there) return false;
    if (shm::monotonic_ns() >= end_ns) return true;
    std::this_thread::sleep_for(kLookEvery);
  }
}

Result<std::filesystem::path> find_socket(const CommonFlags& flags, std::uint64_t patience_ns) {
  const std::uint64_t end_ns = shm::monotonic_ns() + patience_ns;
  // A segment that was named belongs to the engine that was meant, and to no other.
  const bool is_named = !flags.segment.empty();
  const std::filesystem::path usual = shm::default_socket_path(flags.instance);
  shm::Attachment attachment(target_of(flags, {}));
  while (true) {
    const shm::Observation& observation = attachment.observe();
    const Result<std::filesystem::path> told = socket_of(observation);
    if (told && may_answer(*told)) return told;
    const bool is_alive = observation.snapshot && shm::is_alive(observation.verdict.word);
    // An engine that lives and takes no work will not change its mind.
    if (is_alive && !told) return told;
    if (!is_alive && !is_named && may_answer(usual)) return usual;
    if (shm::monotonic_ns() >= end_ns) {
      return told || is_named || observation.snapshot ? told : usual;
    }
    std::this_thread::sleep_for(kLookEvery);
  }
}

}  // namespace

Result<EngineClient> find_engine(const CommonFlags& flags, std::uint64_t patience_ns) {
  const auto socket = find_socket(flags, patience_ns);
  if (!socket) return socket.error();
  return EngineClient(*socket, [flags] { return stays_alive(flags); });
}

}  // namespace vitrine::tools
