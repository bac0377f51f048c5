// SPDX-License-Identifier: Apache-2.0
// The log of an exporter program: one line an event on standard error, as text or as JSON.
//
// Threads  the logger is used from any thread.
#pragma once

#include <spdlog/logger.h>

#include <memory>
#include <string>

namespace vitrine::exporters {

enum class LogFormat { kText, kJson };

// `level` is one of trace, debug, info, warn, error, off.
std::shared_ptr<spdlog::logger> make_program_log(const std::string& program,
                                                 const std::string& level, LogFormat format);

}  // namespace vitrine::exporters
