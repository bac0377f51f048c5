// SPDX-License-Identifier: Apache-2.0
// Where an exporter listens: `ADDRESS:PORT` with a numeric address, or `unix:/path`.
//
// Why   a name would be resolved to whatever the resolver says that day, so only numeric addresses
//       are taken: what is loopback is then certain before anything is bound.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "exporters/error.h"

namespace vitrine::exporters {

struct ListenAddress {
  enum class Family { kIpv4, kIpv6, kUnix };
  Family family = Family::kIpv4;
  std::string host;  // numeric address without brackets, or the path of the socket
  std::uint16_t port = 0;

  bool is_loopback() const;
  // As a person writes it: 127.0.0.1:9821, [::1]:9821, unix:/path.
  std::string text() const;
  // As a browser takes it: http://127.0.0.1:9821/; a Unix socket has no such form, so text().
  std::string url() const;
};

// kUsage names the text and the rule that it breaks.
[[nodiscard]] Result<ListenAddress> parse_listen_address(std::string_view text);

// The canonical form of a numeric IPv4 or IPv6 address (no brackets); empty when it is neither.
std::string canonical_ip(std::string_view text);

}  // namespace vitrine::exporters
