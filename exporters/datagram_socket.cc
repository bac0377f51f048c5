// SPDX-License-Identifier: Apache-2.0
#include "exporters/datagram_socket.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

namespace vitrine::exporters {

// Shared with the resolving thread, which may outlive the socket by one look-up.
struct DatagramSocket::Addresses {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_over = false;
  std::uint64_t version = 0;  // 0: none yet
  sockaddr_storage address{};
  socklen_t size = 0;

  void set(const void* bytes, socklen_t bytes_size) {
    const std::lock_guard lock(mutex);
    if (version != 0 && size == bytes_size && std::memcmp(&address, bytes, size) == 0) return;
    std::memcpy(&address, bytes, bytes_size);
    size = bytes_size;
    ++version;
  }
};

namespace {

constexpr std::chrono::seconds kResolveAgain{60};
constexpr std::chrono::seconds kResolveAfterFault{5};

// `flags` as getaddrinfo() has them.
bool resolve(DatagramSocket::Addresses& addresses, const DatagramTarget& target, int flags) {
  addrinfo wanted{};
  wanted.ai_flags = flags;
  wanted.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(target.host.c_str(), target.port.c_str(), &wanted, &found) != 0) return false;
  addresses.set(found->ai_addr, found->ai_addrlen);
  freeaddrinfo(found);
  return true;
}

void keep_resolving(const std::shared_ptr<DatagramSocket::Addresses>& addresses,
                    const DatagramTarget& target) {
  for (;;) {
    const auto pause = resolve(*addresses, target, 0) ? kResolveAgain : kResolveAfterFault;
    std::unique_lock lock(addresses->mutex);
    if (addresses->changed.wait_for(lock, pause, [&] { return addresses->is_over; })) return;
  }
}

bool is_port(const std::string& text) {
  return !text.empty() && text.size() <= 5 &&
         std::ranges::all_of(text, [](char digit) { return digit >= '0' && digit <= '9'; }) &&
         std::stoul(text) >= 1 && std::stoul(text) <= 65'535;
}

}  // namespace

Result<DatagramTarget> parse_datagram_target(const std::string& text) {
  const Error wrong{ErrorKind::kUsage,
                    "--to '" + text + "' is not udp://HOST:PORT or unix:/PATH (107 bytes at most)"};
  if (text.starts_with("unix:/")) {
    const std::string path = text.substr(5);
    if (path.size() >= sizeof(sockaddr_un::sun_path)) return wrong;
    return DatagramTarget{path, {}, {}};
  }
  const std::size_t colon = text.rfind(':');
  if (!text.starts_with("udp://") || colon < 7) return wrong;
  DatagramTarget target{{}, text.substr(6, colon - 6), text.substr(colon + 1)};
  const bool is_bracketed = target.host.starts_with('[') && target.host.ends_with(']');
  if (is_bracketed) target.host = target.host.substr(1, target.host.size() - 2);
  const bool has_colon = target.host.find(':') != std::string::npos;
  if (target.host.empty() || target.host.size() > 253 || has_colon != is_bracketed) return wrong;
  if (!is_port(target.port)) return wrong;
  return target;
}

DatagramSocket::DatagramSocket(const DatagramTarget& target)
    : addresses_(std::make_shared<Addresses>()) {
  if (target.unix_path.empty()) {
    if (resolve(*addresses_, target, AI_NUMERICHOST)) return;
    std::thread(keep_resolving, addresses_, target).detach();
    return;
  }
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, target.unix_path.data(), target.unix_path.size());
  addresses_->set(&address, sizeof address);
}

DatagramSocket::~DatagramSocket() {
  {
    const std::lock_guard lock(addresses_->mutex);
    addresses_->is_over = true;
  }
  addresses_->changed.notify_all();
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool DatagramSocket::has_address() const {
  const std::lock_guard lock(addresses_->mutex);
  return addresses_->version != 0;
}

bool DatagramSocket::open() {
  if (descriptor_ >= 0) ::close(descriptor_);
  const std::lock_guard lock(addresses_->mutex);
  opened_version_ = addresses_->version;
  descriptor_ =
      ::socket(addresses_->address.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor_ < 0) return false;
  return ::connect(descriptor_, reinterpret_cast<const sockaddr*>(&addresses_->address),
                   addresses_->size) == 0;
}

std::optional<std::string> DatagramSocket::send(std::string_view datagram) {
  const auto try_send = [&] {
    return ::send(descriptor_, datagram.data(), datagram.size(), MSG_NOSIGNAL) >= 0;
  };
  bool is_current = descriptor_ >= 0;
  {
    const std::lock_guard lock(addresses_->mutex);
    is_current = is_current && opened_version_ == addresses_->version;
  }
  if ((is_current || open()) && try_send()) return std::nullopt;
  const int fault = errno;
  const bool is_full = fault == EAGAIN || fault == EWOULDBLOCK || fault == ENOBUFS;
  if (!is_full && open()) static_cast<void>(try_send());
  return std::string(std::strerror(fault));
}

}  // namespace vitrine::exporters
