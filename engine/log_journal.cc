// SPDX-License-Identifier: Apache-2.0
#include "engine/log_journal.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <boost/json.hpp>

#include "shm/clock.h"
#include "shm/time_text.h"
#include "shm/utf8_repair.h"

namespace vitrine::engine {
namespace {

namespace json = boost::json;

spdlog::level::level_enum level_of(JournalLevel level) {
  switch (level) {
    case JournalLevel::kDebug:
      return spdlog::level::debug;
    case JournalLevel::kInfo:
      return spdlog::level::info;
    case JournalLevel::kWarn:
      return spdlog::level::warn;
    case JournalLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

// Details may quote what a client or a file said: one line stays one line.
std::string printable(std::string text) {
  std::replace_if(
      text.begin(), text.end(),
      [](char letter) { return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7F; }, ' ');
  return text;
}

void add_number(std::string& line, const char* name, std::optional<std::uint32_t> number) {
  if (number) line.append(" ").append(name).append("=").append(std::to_string(*number));
}

std::string text_line(const JournalEntry& entry) {
  std::string line(entry.what);
  if (entry.job != 0) line.append(" job=").append(std::to_string(entry.job));
  if (entry.attempt > 1) line.append(" attempt=").append(std::to_string(entry.attempt));
  add_number(line, "partition", entry.partition);
  if (!entry.stage.empty()) line.append(" stage=").append(entry.stage);
  add_number(line, "worker", entry.worker);
  add_number(line, "device", entry.device);
  if (!entry.detail.empty()) line.append(": ").append(entry.detail);
  return printable(std::move(line));
}

json::value number_or_null(std::optional<std::uint32_t> number) {
  return number ? json::value(*number) : json::value(nullptr);
}

std::string json_line(const JournalEntry& entry) {
  const json::object line{
      {"time", shm::rfc3339_ms(shm::unix_ns())},
      {"level", spdlog::level::to_string_view(level_of(entry.level)).data()},
      {"message", std::string(entry.what)},
      {"job", entry.job == 0 ? json::value(nullptr) : json::value(std::to_string(entry.job))},
      {"attempt", entry.job == 0 ? json::value(nullptr) : json::value(entry.attempt)},
      {"partition", number_or_null(entry.partition)},
      {"stage", entry.stage.empty() ? json::value(nullptr) : json::value(std::string(entry.stage))},
      {"worker", number_or_null(entry.worker)},
      {"device", number_or_null(entry.device)},
      {"detail", shm::repair_utf8(entry.detail)}};
  return json::serialize(line);
}

}  // namespace

struct LogJournal::Logger {
  spdlog::logger lines{"vitrined", std::make_shared<spdlog::sinks::stderr_sink_mt>()};
  bool is_json = false;
};

LogJournal::LogJournal(const std::string& level, const std::string& format)
    : logger_(std::make_unique<Logger>()) {
  logger_->is_json = format == "json";
  logger_->lines.set_level(spdlog::level::from_str(level));
  logger_->lines.set_pattern(logger_->is_json ? "%v" : "%Y-%m-%dT%H:%M:%S.%eZ %l %v",
                             spdlog::pattern_time_type::utc);
}

LogJournal::~LogJournal() = default;

void LogJournal::write(const JournalEntry& entry) {
  const auto level = level_of(entry.level);
  if (!logger_->lines.should_log(level)) return;
  logger_->lines.log(level, "{}", logger_->is_json ? json_line(entry) : text_line(entry));
}

}  // namespace vitrine::engine
