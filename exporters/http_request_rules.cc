// SPDX-License-Identifier: Apache-2.0
#include "exporters/http_request_rules.h"

#include <algorithm>
#include <cctype>

#include "exporters/listen_address.h"

namespace vitrine::exporters {

namespace {

bool is_hex(char digit) { return std::isxdigit(static_cast<unsigned char>(digit)) != 0; }

// What is wrong with the target; empty when nothing is.
std::string_view fault_of_target(std::string_view target) {
  if (target.empty() || target.front() != '/') return "the target must start with /";
  for (std::size_t i = 0; i < target.size(); ++i) {
    const unsigned char byte = static_cast<unsigned char>(target[i]);
    if (byte <= 0x20 || byte >= 0x7F || byte == '#' || byte == '\\') {
      return "the target holds a byte that it may not";
    }
    if (byte != '%') continue;
    if (i + 2 >= target.size() || !is_hex(target[i + 1]) || !is_hex(target[i + 2])) {
      return "a % in the target must be followed by two hexadecimal digits";
    }
    if (target[i + 1] == '0' && target[i + 2] == '0') return "the target must not hold %00";
  }
  return {};
}

bool is_token(std::string_view name) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::all_of(name.begin(), name.end(), [&](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
           kMarks.find(letter) != kMarks.npos;
  });
}

bool begins(std::string_view text, std::string_view prefix) {
  return equals_ignoring_case(text.substr(0, prefix.size()), prefix);
}

// Content-Length: 0 says that there is no body; everything else announces one. The server library
// joins a folded line to the name before it (Content-Length5), hence names are compared by their
// beginning.
bool announces_body(const RequestHead& head) {
  std::size_t lengths = 0;
  for (const Header& header : head.headers) {
    if (begins(header.name, "Transfer-Encoding")) return true;
    if (!begins(header.name, "Content-Length")) continue;
    if (++lengths > 1 || header.name.size() != std::string_view("Content-Length").size() ||
        header.value != "0") {
      return true;
    }
  }
  return false;
}

// The host without its port, brackets and trailing dot; empty when the value is no host.
std::string_view host_name(std::string_view value) {
  if (value.starts_with('[')) {
    const std::size_t close = value.find(']');
    if (close == value.npos) return {};
    const std::string_view rest = value.substr(close + 1);
    if (!rest.empty() && rest.front() != ':') return {};
    return value.substr(1, close - 1);
  }
  value = value.substr(0, value.find(':'));
  if (value.size() > 1 && value.back() == '.') value.remove_suffix(1);
  return value;
}

bool is_listed(std::string_view name, const RequestRules& rules) {
  return std::any_of(
      rules.allowed_hosts.begin(), rules.allowed_hosts.end(),
      [name](const std::string& allowed) { return equals_ignoring_case(name, allowed); });
}

bool is_own_host(std::string_view name, const RequestHead& head, const RequestRules& rules) {
  if (equals_ignoring_case(name, "localhost") || is_listed(name, rules)) return true;
  const std::string address = canonical_ip(name);
  return address == "127.0.0.1" || address == "::1" ||
         (!address.empty() && address == head.local_address);
}

// An origin is scheme://host[:port]; the site's own one has the authority that Host names.
bool is_own_origin(std::string_view origin, const RequestHead& head, const RequestRules& rules) {
  const std::size_t scheme = origin.find("://");
  if (scheme == origin.npos) return false;
  const std::string_view authority = origin.substr(scheme + 3);
  return equals_ignoring_case(authority, head.value("Host")) ||
         is_listed(host_name(authority), rules);
}

}  // namespace

std::optional<Refusal> refuse_malformed(const RequestHead& head) {
  if (head.method != "GET" && head.method != "HEAD") {
    return Refusal{405, "only GET and HEAD are served"};
  }
  if (const std::string_view fault = fault_of_target(head.target); !fault.empty()) {
    return Refusal{400, std::string(fault)};
  }
  for (const Header& header : head.headers) {
    if (!is_token(header.name)) return Refusal{400, "a header's name holds a byte that it may not"};
  }
  if (announces_body(head)) return Refusal{400, "a request here has no body"};
  if (head.count("Host") > 1) return Refusal{400, "more than one Host"};
  if (head.count("Host") == 0 && head.version != "HTTP/1.0") return Refusal{400, "no Host"};
  return std::nullopt;
}

std::optional<Refusal> refuse_foreign(const RequestHead& head, const RequestRules& rules) {
  const bool over_network = !head.local_address.empty();
  if (over_network && head.count("Host") == 0) return Refusal{400, "no Host"};
  if (over_network && !is_own_host(host_name(head.value("Host")), head, rules)) {
    return Refusal{421, "this Host is not served here; --allow-host NAME allows it"};
  }
  if (head.count("Origin") > 1 ||
      (head.count("Origin") == 1 && !is_own_origin(head.value("Origin"), head, rules))) {
    return Refusal{403, "pages of another origin may not read this"};
  }
  return std::nullopt;
}

}  // namespace vitrine::exporters
