// SPDX-License-Identifier: Apache-2.0
#include "tools/engine_connection.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "shm/clock.h"

namespace vitrine::tools {
namespace {

constexpr timeval kConnectWithin = {5, 0};

Error late(const std::string& at) {
  return {ExitCode::kTimeout, "the engine" + at + " did not answer in time"};
}

Error connect_error(int reason, const std::string& at) {
  const std::string text = std::strerror(reason);
  if (reason == EACCES || reason == EPERM) {
    return {ExitCode::kNoEngine, "the engine's socket" + at + " is not for you: " + text};
  }
  if (reason == EAGAIN) return late(at);  // its queue of connections stayed full
  return {ExitCode::kNoEngine, "no engine answers" + at + ": " + text};
}

// 0, or the reason.
int connect_to(const std::filesystem::path& path, const shm::FileDescriptor& socket) {
  const auto address = unix_address(path);
  if (!address) return ENAMETOOLONG;
  // Bounds connect(2) too.
  ::setsockopt(socket.number(), SOL_SOCKET, SO_SNDTIMEO, &kConnectWithin, sizeof(kConnectWithin));
  const auto* where = reinterpret_cast<const sockaddr*>(&*address);
  while (::connect(socket.number(), where, sizeof(*address)) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

bool is_for_later(int reason) { return reason == EINTR || reason == EAGAIN; }

}  // namespace

std::optional<sockaddr_un> unix_address(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.native().size() >= sizeof(address.sun_path)) return std::nullopt;
  path.native().copy(address.sun_path, sizeof(address.sun_path) - 1);
  return address;
}

EngineConnection::EngineConnection(shm::FileDescriptor socket, std::string at,
                                   std::uint64_t silence_ns)
    : socket_(std::move(socket)), at_(std::move(at)), silence_ns_(silence_ns) {}

Result<EngineConnection> EngineConnection::open(const std::filesystem::path& socket_path,
                                                std::uint64_t silence_ns) {
  const std::string at = " at " + socket_path.string();
  shm::FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int reason = socket.is_open() ? connect_to(socket_path, socket) : errno;
  if (reason != 0) return connect_error(reason, at);
  return EngineConnection(std::move(socket), at, silence_ns);
}

Result<bool> EngineConnection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const Result<short> ready = await(POLLIN | POLLOUT);
    if (!ready) return ready.error();
    if ((*ready & POLLIN) != 0) return false;
    const ssize_t count =
        ::send(socket_.number(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (!is_for_later(errno)) {
      return false;
    }
  }
  return true;
}

Result<std::size_t> EngineConnection::receive(std::span<char> room) {
  while (true) {
    const Result<short> ready = await(POLLIN);
    if (!ready) return ready.error();
    const ssize_t count = ::recv(socket_.number(), room.data(), room.size(), MSG_DONTWAIT);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (!is_for_later(errno)) return std::size_t{0};
  }
}

Result<short> EngineConnection::await(short events) const {
  constexpr std::uint64_t kLookEveryMs = 60'000;
  const std::uint64_t end_ns = shm::monotonic_ns() + silence_ns_;
  while (true) {
    const std::uint64_t now_ns = shm::monotonic_ns();
    if (now_ns >= end_ns) return late(at_);
    const std::uint64_t left_ms = (end_ns - now_ns) / 1'000'000 + 1;
    pollfd awaited{socket_.number(), events, 0};
    const int count = ::poll(&awaited, 1, static_cast<int>(std::min(left_ms, kLookEveryMs)));
    if (count > 0) return awaited.revents;
    if (count < 0 && errno != EINTR) return Error{ExitCode::kFailed, std::strerror(errno)};
  }
}

}  // namespace vitrine::tools
