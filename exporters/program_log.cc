// SPDX-License-Identifier: Apache-2.0
#include "exporters/program_log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <unistd.h>

#include <string_view>

#include "exporters/json_text.h"
#include "shm/line_output.h"

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

class StandardError : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit StandardError(std::string program)
      : program_(std::move(program)),
        output_(STDERR_FILENO, [this](std::uint64_t lost) { return loss_line(lost); }) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    output_.write(formatted(message));
  }
  void flush_() override {}

 private:
  std::string formatted(const spdlog::details::log_msg& message) {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    return {line.data(), line.size()};
  }
  std::string loss_line(std::uint64_t lost) {
    const std::string text = std::to_string(lost) + " log lines lost that nobody took";
    return formatted({program_, spdlog::level::warn, text});
  }

  std::string program_;
  shm::LineOutput output_;
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
  auto log = std::make_shared<spdlog::logger>(program, std::make_shared<StandardError>(program));
  log->set_formatter(make_formatter(format));
  log->set_level(spdlog::level::from_str(level));
  return log;
}

}  // namespace vitrine::exporters
