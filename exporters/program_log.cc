// SPDX-License-Identifier: Apache-2.0
#include "exporters/program_log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <string_view>

#include "exporters/json_text.h"

namespace vitrine::exporters {

namespace {

// The message as a JSON string, quotes included.
class JsonMessage : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& line) override {
    const std::string text = json_text(
        boost::json::value(std::string_view(message.payload.data(), message.payload.size())));
    line.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<JsonMessage>();
  }
};

std::unique_ptr<spdlog::formatter> make_formatter(LogFormat format) {
  auto formatter = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
  formatter->add_flag<JsonMessage>('*');
  formatter->set_pattern(
      format == LogFormat::kJson
          ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l","program":"%n","message":%*})"
          : "%Y-%m-%dT%H:%M:%S.%eZ %l %n: %v");
  return formatter;
}

}  // namespace

std::shared_ptr<spdlog::logger> make_program_log(const std::string& program,
                                                 const std::string& level, LogFormat format) {
  auto log =
      std::make_shared<spdlog::logger>(program, std::make_shared<spdlog::sinks::stderr_sink_mt>());
  log->set_formatter(make_formatter(format));
  log->set_level(spdlog::level::from_str(level));
  return log;
}

}  // namespace vitrine::exporters
