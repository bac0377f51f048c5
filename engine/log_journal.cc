// SPDX-License-Identifier: Apache-2.0
#include "engine/log_journal.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <limits>
#include <mutex>
#include <vector>

#include "engine/line_limit.h"
#include "engine/short_text.h"
#include "shm/clock.h"
#include "shm/line_output.h"
#include "shm/printable_text.h"
#include "shm/time_text.h"

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

// Details may quote what a client or a file said: a line stays one line, and short enough for any
// pipe (shm/line_output.h), also as JSON.
std::string bounded(const std::string& detail) {
  constexpr std::size_t kBytesMax = 1500;
  const std::string text = shm::printable_text(detail);
  if (text.size() <= kBytesMax) return text;
  return std::string(whole_characters(text, kBytesMax)).append(kEllipsis);
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
  if (!entry.detail.empty()) line.append(": ").append(bounded(entry.detail));
  return line;
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
      {"detail", bounded(entry.detail)}};
  return json::serialize(line);
}

std::string line_of(const JournalEntry& entry, bool is_json) {
  return is_json ? json_line(entry) : text_line(entry);
}

class StandardError : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit StandardError(bool is_json)
      : output_(STDERR_FILENO,
                [this, is_json](std::uint64_t lost) { return loss_line(lost, is_json); }) {}

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
  std::string loss_line(std::uint64_t lost, bool is_json) {
    JournalEntry entry;
    entry.level = JournalLevel::kWarn;
    entry.what = "log lines lost";
    entry.detail = std::to_string(lost) + " that nobody took";
    const std::string text = line_of(entry, is_json);
    return formatted({"vitrined", spdlog::level::warn, text});
  }

  shm::LineOutput output_;
};

}  // namespace

struct LogJournal::Logger {
  Logger(bool json, std::uint32_t lines_a_second)
      : lines("vitrined", std::make_shared<StandardError>(json)),
        is_json(json),
        limit(lines_a_second) {}

  void write(const JournalEntry& entry) {
    lines.log(level_of(entry.level), "{}", line_of(entry, is_json));
  }

  spdlog::logger lines;
  bool is_json;
  std::mutex mutex;  // of the limit
  LineLimit limit;
};

LogJournal::LogJournal(const std::string& level, const std::string& format, std::uint32_t limit)
    : logger_(std::make_unique<Logger>(format == "json", limit)) {
  logger_->lines.set_level(spdlog::level::from_str(level));
  logger_->lines.set_pattern(logger_->is_json ? "%v" : "%Y-%m-%dT%H:%M:%S.%eZ %l %v",
                             spdlog::pattern_time_type::utc);
}

LogJournal::~LogJournal() { tell_left_out_by(std::numeric_limits<std::uint64_t>::max()); }

void LogJournal::set_level(const std::string& level) {
  logger_->lines.set_level(spdlog::level::from_str(level));
}

void LogJournal::write(const JournalEntry& entry) {
  if (!logger_->lines.should_log(level_of(entry.level))) return;
  {
    const std::lock_guard lock(logger_->mutex);
    if (!logger_->limit.admits(entry.what, shm::monotonic_ns())) return;
  }
  logger_->write(entry);
}

void LogJournal::tell_left_out() { tell_left_out_by(shm::monotonic_ns()); }

void LogJournal::tell_left_out_by(std::uint64_t now_ns) {
  std::vector<LineLimit::LeftOut> left_out;
  {
    const std::lock_guard lock(logger_->mutex);
    left_out = logger_->limit.take_left_out(now_ns);
  }
  for (const LineLimit::LeftOut& phrase : left_out) {
    JournalEntry entry;
    entry.level = JournalLevel::kWarn;
    entry.what = "log lines left out";
    entry.detail = std::to_string(phrase.lines) + " more of '" + std::string(phrase.phrase) + "'";
    logger_->write(entry);
  }
}

}  // namespace vitrine::engine
