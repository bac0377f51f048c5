// SPDX-License-Identifier: Apache-2.0
#include "exporters/listen_socket.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace vitrine::exporters {

namespace {

constexpr int kBacklog = 512;
constexpr mode_t kUnixSocketMode = 0660;

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;

  explicit SocketAddress(const ListenAddress& address) {
    if (address.family == ListenAddress::Family::kUnix) {
      fill(sockaddr_un{}, [&](sockaddr_un& name) {
        name.sun_family = AF_UNIX;
        std::memcpy(name.sun_path, address.host.c_str(), address.host.size() + 1);
      });
    } else if (address.family == ListenAddress::Family::kIpv4) {
      fill(sockaddr_in{}, [&](sockaddr_in& name) {
        name.sin_family = AF_INET;
        name.sin_port = htons(address.port);
        inet_pton(AF_INET, address.host.c_str(), &name.sin_addr);
      });
    } else {
      fill(sockaddr_in6{}, [&](sockaddr_in6& name) {
        name.sin6_family = AF_INET6;
        name.sin6_port = htons(address.port);
        inet_pton(AF_INET6, address.host.c_str(), &name.sin6_addr);
      });
    }
  }

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }

 private:
  template <class Name, class Fill>
  void fill(Name name, Fill&& set) {
    set(name);
    std::memcpy(&storage, &name, sizeof name);
    length = sizeof name;
  }
};

int open_socket(const SocketAddress& name) {
  const int kind = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
  const int descriptor = socket(name.storage.ss_family, kind, 0);
  if (descriptor < 0) return descriptor;
  const int on = 1;
  if (name.storage.ss_family != AF_UNIX) {
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  }
  if (name.storage.ss_family == AF_INET6) {
    setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  }
  return descriptor;
}

// A name that nobody listens behind is the rest of a killed process; anything else is not ours.
void remove_abandoned(const SocketAddress& name, const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode)) return;
  const int probe = open_socket(name);
  if (probe < 0) return;
  if (connect(probe, name.get(), name.length) != 0 && errno == ECONNREFUSED) {
    unlink(path.c_str());
  }
  close(probe);
}

std::uint16_t bound_port(int descriptor, std::uint16_t fallback) {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&storage), &length) != 0) {
    return fallback;
  }
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  std::memcpy(&v4, &storage, sizeof v4);
  std::memcpy(&v6, &storage, sizeof v6);
  return ntohs(storage.ss_family == AF_INET ? v4.sin_port : v6.sin6_port);
}

}  // namespace

Result<ListenSocket> ListenSocket::bind(const ListenAddress& address) {
  const SocketAddress name(address);
  const bool is_unix = address.family == ListenAddress::Family::kUnix;
  if (is_unix) remove_abandoned(name, address.host);
  const int descriptor = open_socket(name);
  ListenSocket socket(descriptor, address);
  if (descriptor < 0 || ::bind(descriptor, name.get(), name.length) != 0 ||
      listen(descriptor, kBacklog) != 0) {
    return Error{ErrorKind::kUsage,
                 "cannot listen on " + address.text() + ": " + std::strerror(errno)};
  }
  if (is_unix) {
    socket.owns_name_ = true;
    chmod(address.host.c_str(), kUnixSocketMode);
  } else {
    socket.address_.port = bound_port(descriptor, address.port);
  }
  return socket;
}

ListenSocket::ListenSocket(int descriptor, ListenAddress address)
    : descriptor_(descriptor), address_(std::move(address)) {}

ListenSocket::ListenSocket(ListenSocket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      address_(std::move(other.address_)),
      owns_name_(std::exchange(other.owns_name_, false)) {}

ListenSocket::~ListenSocket() {
  if (descriptor_ >= 0) close(descriptor_);
  if (owns_name_) unlink(address_.host.c_str());
}

int ListenSocket::release() { return std::exchange(descriptor_, -1); }

bool has_address(const ListenAddress& address) {
  ListenAddress any_port = address;
  any_port.port = 0;
  const SocketAddress name(any_port);
  const int descriptor = open_socket(name);
  if (descriptor < 0) return false;
  const bool bound = ::bind(descriptor, name.get(), name.length) == 0;
  close(descriptor);
  return bound;
}

}  // namespace vitrine::exporters
