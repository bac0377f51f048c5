// SPDX-License-Identifier: Apache-2.0
#include "engine/api_socket.h"

#include <grp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <optional>

namespace vitrine::engine {
namespace {

constexpr int kBacklog = 128;

Error socket_error(ErrorClass error_class, const std::filesystem::path& path,
                   const std::string& rule) {
  return {error_class, "socket " + path.string() + ": " + rule};
}

// The folder must be there and belong to root or to us, or others could put their own socket.
Result<void> prepare_folder(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.parent_path();
  if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) {
    return socket_error(ErrorClass::kUsage, path, std::strerror(errno));
  }
  struct stat found {};
  if (::stat(folder.c_str(), &found) != 0) {
    return socket_error(ErrorClass::kUsage, path, std::strerror(errno));
  }
  const bool is_trusted = found.st_uid == ::geteuid() || found.st_uid == 0;
  if (!S_ISDIR(found.st_mode) || !is_trusted) {
    return socket_error(ErrorClass::kUsage, path, "its folder is not root's or this user's");
  }
  return {};
}

Result<void> remove_leftover(const std::filesystem::path& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return {};
  if (!S_ISSOCK(found.st_mode)) {
    return socket_error(ErrorClass::kUsage, path, "is there already and is not a socket");
  }
  if (::unlink(path.c_str()) != 0) {
    return socket_error(ErrorClass::kInternal, path, std::strerror(errno));
  }
  return {};
}

std::optional<std::uint64_t> inode_of(const std::filesystem::path& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return std::nullopt;
  return found.st_ino;
}

}  // namespace

Result<ApiSocket> ApiSocket::listen(const std::filesystem::path& path, const std::string& group) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.native().size() >= sizeof(address.sun_path)) {
    return socket_error(ErrorClass::kUsage, path,
                        "longer than " + std::to_string(sizeof(address.sun_path) - 1) + " bytes");
  }
  std::memcpy(address.sun_path, path.c_str(), path.native().size());
  const struct group* owner = group.empty() ? nullptr : ::getgrnam(group.c_str());
  if (!group.empty() && owner == nullptr) {
    return socket_error(ErrorClass::kUsage, path, "no such group: " + group);
  }
  if (auto done = prepare_folder(path); !done) return done.error();
  if (auto done = remove_leftover(path); !done) return done.error();
  shm::FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // The mode of the descriptor is the mode the name is born with: nobody slips in before chmod.
  const bool is_bound =
      socket.is_open() && ::fchmod(socket.number(), 0660) == 0 &&
      ::bind(socket.number(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  if (!is_bound) return socket_error(ErrorClass::kInternal, path, std::strerror(errno));
  ApiSocket bound(path, std::move(socket));
  bound.inode_ = inode_of(path).value_or(0);
  const bool is_open =
      ::chmod(path.c_str(), 0660) == 0 &&
      (owner == nullptr || ::lchown(path.c_str(), ~uid_t{0}, owner->gr_gid) == 0) &&
      ::listen(bound.descriptor(), kBacklog) == 0;
  if (!is_open) return socket_error(ErrorClass::kInternal, path, std::strerror(errno));
  return bound;
}

ApiSocket::ApiSocket(ApiSocket&& other) noexcept
    : path_(std::move(other.path_)), socket_(std::move(other.socket_)), inode_(other.inode_) {
  other.path_.clear();
}

ApiSocket::~ApiSocket() {
  if (!path_.empty() && inode_of(path_) == inode_) ::unlink(path_.c_str());
}

}  // namespace vitrine::engine
