// SPDX-License-Identifier: Apache-2.0
// What a command says about itself, one line each on standard error; results go to Output.
#pragma once

#include <cstdint>
#include <string_view>

namespace vitrine::tools {

enum class LogLevel : std::uint8_t { kTrace, kDebug, kInfo, kWarn, kError, kOff };
// Of one of the words trace, debug, info, warn, error and off.
LogLevel log_level_of(std::string_view word);

enum class LogFormat : std::uint8_t { kText, kJson };

class Diagnostics {
 public:
  Diagnostics(LogLevel level, LogFormat format) : level_(level), format_(format) {}

  void debug(std::string_view text) const { line(LogLevel::kDebug, text); }
  void info(std::string_view text) const { line(LogLevel::kInfo, text); }
  void warn(std::string_view text) const { line(LogLevel::kWarn, text); }
  void error(std::string_view text) const { line(LogLevel::kError, text); }

 private:
  void line(LogLevel level, std::string_view text) const;

  LogLevel level_;
  LogFormat format_;
};

}  // namespace vitrine::tools
