// SPDX-License-Identifier: Apache-2.0
// Which requests are refused before anything is looked up, and with what status.
//
// Why      the page and the numbers are for this machine: a page of another site must not read them
//          through the visitor's browser (Host and Origin checks against DNS rebinding), and a
//          request whose end can be understood in two ways must not smuggle in a second one.
// Threads  pure functions.
// Source   RFC 9110, RFC 9112.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "exporters/http_message.h"

namespace vitrine::exporters {

struct RequestRules {
  std::vector<std::string> allowed_hosts;  // names besides loopback and the address reached
};

struct Refusal {
  int status;
  std::string detail;
};

// Method, target and framing: 405 for other methods than GET and HEAD; 400 for a target that does
// not start with `/` or holds bytes or escapes it may not, for any body, for a second Host.
[[nodiscard]] std::optional<Refusal> refuse_malformed(const RequestHead& head);

// 421 when Host is neither a loopback name, nor the address that the client reached, nor allowed;
// 403 when Origin is there and is not the site itself or allowed. On a Unix socket any Host may
// stand, since no browser gets there.
[[nodiscard]] std::optional<Refusal> refuse_foreign(const RequestHead& head,
                                                    const RequestRules& rules);

}  // namespace vitrine::exporters
