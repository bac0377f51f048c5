// SPDX-License-Identifier: Apache-2.0
#include "engine/api_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "engine/host_group.h"
#include "engine/runtime_folder.h"
#include "shm/paths.h"

namespace vitrine::engine {
namespace {

constexpr int kBacklog = 128;

using Kind = StartFailure::Kind;

std::string shown(const std::filesystem::path& path) { return "socket " + path.string(); }

StartFailure socket_error(Kind kind, const std::filesystem::path& path, const std::string& rule) {
  return {kind, shown(path) + ": " + rule};
}

StartResult<sockaddr_un> address_of(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.native().size() >= sizeof(address.sun_path)) {
    return socket_error(Kind::kUsage, path,
                        "longer than " + std::to_string(sizeof(address.sun_path) - 1) + " bytes");
  }
  std::memcpy(address.sun_path, path.c_str(), path.native().size());
  return address;
}

// Who listens: the PID when the kernel tells it, that is in the same PID namespace.
std::string listener_of(int connected) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  const bool is_told =
      ::getsockopt(connected, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid > 0;
  return is_told ? "PID " + std::to_string(peer.pid) + ", uid " + std::to_string(peer.uid)
                 : "a process that does not answer";
}

// Only what refuses connections is a leftover: a full backlog or a socket of another type or user
// is somebody's.
StartResult<void> check_nobody_listens(const std::filesystem::path& path,
                                       const sockaddr_un& address) {
  const shm::FileDescriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!probe.is_open()) return socket_error(Kind::kRuntime, path, std::strerror(errno));
  if (::connect(probe.number(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) ==
      0) {
    return socket_error(Kind::kInUse, path, "is in use: " + listener_of(probe.number()));
  }
  if (errno == ECONNREFUSED || errno == ENOENT) return {};
  return socket_error(Kind::kInUse, path, std::string("is in use: ") + std::strerror(errno));
}

StartResult<void> remove_leftover(const std::filesystem::path& path, const sockaddr_un& address) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return {};
  if (!S_ISSOCK(found.st_mode)) {
    return socket_error(Kind::kUsage, path, "is there already and is not a socket");
  }
  if (auto free = check_nobody_listens(path, address); !free) return free;
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
    return socket_error(Kind::kRuntime, path, std::strerror(errno));
  }
  return {};
}

std::optional<std::uint64_t> inode_of(const std::filesystem::path& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return std::nullopt;
  return found.st_ino;
}

}  // namespace

StartResult<ApiSocket> ApiSocket::listen(const std::filesystem::path& path,
                                         const std::string& group) {
  const auto address = address_of(path);
  if (!address) return address.error();
  const auto owner = find_group("socket_group", group);
  if (!owner) return owner.error();
  if (auto done = prepare_runtime_folder(path.parent_path()); !done) return done.error();
  auto lock = shm::OwnerLock::take(shm::lock_path_of(path), shm::Owned::kSocket, shown(path));
  if (!lock) return start_failure_of(lock.error());
  if (auto done = remove_leftover(path, *address); !done) return done.error();
  shm::FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // The mode of the descriptor is the mode the name is born with: nobody slips in before chmod.
  const bool is_bound =
      socket.is_open() && ::fchmod(socket.number(), 0660) == 0 &&
      ::bind(socket.number(), reinterpret_cast<const sockaddr*>(&*address), sizeof(*address)) == 0;
  if (!is_bound) return socket_error(Kind::kRuntime, path, std::strerror(errno));
  ApiSocket bound(path, std::move(*lock), std::move(socket));
  bound.inode_ = inode_of(path).value_or(0);
  const bool is_open = ::chmod(path.c_str(), 0660) == 0 &&
                       (!*owner || ::lchown(path.c_str(), ~uid_t{0}, **owner) == 0) &&
                       ::listen(bound.descriptor(), kBacklog) == 0;
  if (!is_open) return socket_error(Kind::kRuntime, path, std::strerror(errno));
  return bound;
}

ApiSocket::ApiSocket(ApiSocket&& other) noexcept
    : path_(std::move(other.path_)),
      lock_(std::move(other.lock_)),
      socket_(std::move(other.socket_)),
      inode_(other.inode_) {
  other.path_.clear();
}

ApiSocket::~ApiSocket() {
  if (!path_.empty() && inode_of(path_) == inode_) ::unlink(path_.c_str());
}

}  // namespace vitrine::engine
