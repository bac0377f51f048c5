// SPDX-License-Identifier: Apache-2.0
// A header's value with its parameters: `form-data; name="witness"; filename="w.wtns"`.
//
// Source: RFC 9110, 5.6.6; RFC 7578, 4.2. A backslash quotes only `"` and `\`, because browsers put
// Windows paths between the quotes as they are.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace vitrine::engine {

struct ValueWithParameters {
  std::string value;                              // in lower case
  std::map<std::string, std::string> parameters;  // names in lower case
};

// Nothing when it is malformed or gives a parameter twice.
[[nodiscard]] std::optional<ValueWithParameters> parse_parameters(std::string_view header);

}  // namespace vitrine::engine
