// SPDX-License-Identifier: Apache-2.0
// The command line of vitrine-statsd.
//
// Layout   flags before VITRINE_* variables before defaults.
#pragma once

#include <cstdint>
#include <variant>

#include "exporters/datagram_socket.h"
#include "exporters/statsd_lines.h"
#include "exporters/watch_options.h"

namespace vitrine::exporters {

struct StatsdOptions {
  shm::Target target;
  DatagramTarget to;
  StatsdStyle style;
  std::uint32_t interval_ms = 1'000;
  std::string log_level = "info";
  LogFormat log_format = LogFormat::kText;
};

// kUsage names the flag or the value in one line.
[[nodiscard]] Result<std::variant<StatsdOptions, PrintedText>> parse_statsd_options(
    int argc, const char* const* argv);

}  // namespace vitrine::exporters
