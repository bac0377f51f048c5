// SPDX-License-Identifier: Apache-2.0
// The command line of vitrine-http.
//
// Layout   flags before VITRINE_* variables before defaults.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "exporters/error.h"
#include "exporters/listen_address.h"
#include "exporters/program_log.h"
#include "exporters/watch_options.h"
#include "shm/attachment.h"

namespace vitrine::exporters {

struct HttpOptions {
  shm::Target target;
  std::vector<ListenAddress> listen;
  // The default addresses were not asked for by name, so ::1 may be missing on this machine.
  enum class Listen { kDefault, kGiven } listen_choice = Listen::kDefault;
  std::vector<std::string> allowed_hosts;
  std::string log_level = "info";
  LogFormat log_format = LogFormat::kText;
};

// kUsage names the flag or the value in one line.
[[nodiscard]] Result<std::variant<HttpOptions, PrintedText>> parse_http_options(
    int argc, const char* const* argv);

}  // namespace vitrine::exporters
