// SPDX-License-Identifier: Apache-2.0
#include "exporters/listen_address.h"

#include <arpa/inet.h>
#include <sys/un.h>

#include <charconv>
#include <optional>

namespace vitrine::exporters {

namespace {

Error bad(std::string_view text, std::string_view rule) {
  return Error{ErrorKind::kUsage, "--listen " + std::string(text) + ": " + std::string(rule)};
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return port;
}

std::string canonical(int family, const std::string& text) {
  unsigned char bytes[sizeof(in6_addr)];
  char numeric[INET6_ADDRSTRLEN];
  if (inet_pton(family, text.c_str(), bytes) != 1) return {};
  return inet_ntop(family, bytes, numeric, sizeof numeric) == nullptr ? "" : numeric;
}

Result<ListenAddress> parse_unix(std::string_view text, std::string_view path) {
  if (path.empty() || path.front() != '/') return bad(text, "unix: takes an absolute path");
  if (path.size() >= sizeof(sockaddr_un::sun_path) || path.find('\0') != path.npos) {
    return bad(text, "the path is too long for a Unix socket (107 bytes at most)");
  }
  return ListenAddress{ListenAddress::Family::kUnix, std::string(path), 0};
}

}  // namespace

bool ListenAddress::is_loopback() const {
  switch (family) {
    case Family::kUnix:
      return true;
    case Family::kIpv4:
      return host.rfind("127.", 0) == 0;
    case Family::kIpv6:
      return host == "::1";
  }
  return false;
}

std::string ListenAddress::text() const {
  switch (family) {
    case Family::kUnix:
      return "unix:" + host;
    case Family::kIpv4:
      return host + ":" + std::to_string(port);
    case Family::kIpv6:
      return "[" + host + "]:" + std::to_string(port);
  }
  return {};
}

std::string ListenAddress::url() const {
  return family == Family::kUnix ? text() : "http://" + text() + "/";
}

std::string canonical_ip(std::string_view text) {
  const std::string terminated(text);
  const std::string v4 = canonical(AF_INET, terminated);
  return v4.empty() ? canonical(AF_INET6, terminated) : v4;
}

Result<ListenAddress> parse_listen_address(std::string_view text) {
  constexpr std::string_view kUnixPrefix = "unix:";
  constexpr std::string_view kForm =
      "takes ADDRESS:PORT with a numeric address, [IPV6]:PORT, or unix:/path";
  if (text.starts_with(kUnixPrefix)) return parse_unix(text, text.substr(kUnixPrefix.size()));
  const std::size_t colon = text.rfind(':');
  if (colon == text.npos) return bad(text, kForm);
  const std::optional<std::uint16_t> port = parse_port(text.substr(colon + 1));
  if (!port) return bad(text, "the port is a number from 0 to 65535");
  std::string_view host = text.substr(0, colon);
  ListenAddress address;
  address.port = *port;
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    address.family = ListenAddress::Family::kIpv6;
    address.host = canonical(AF_INET6, std::string(host.substr(1, host.size() - 2)));
  } else {
    address.host = canonical(AF_INET, std::string(host));
  }
  if (address.host.empty()) return bad(text, kForm);
  return address;
}

}  // namespace vitrine::exporters
