// SPDX-License-Identifier: Apache-2.0
#include "exporters/statsd_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

namespace vitrine::exporters {
namespace {

constexpr std::size_t kPrefixBytesMax = 64;

struct Arguments {
  WatchArguments watch;
  std::string to = "udp://127.0.0.1:8125";
  std::string interval = "1s";
  std::string prefix;
  std::string format = "plain";
};

std::string check_prefix(const std::string& text) {
  const bool is_good = std::ranges::all_of(text, [](char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '.' || byte == '_' || byte == '-';
  });
  if (is_good && text.size() <= kPrefixBytesMax) return {};
  return "'" + text + "' is not at most 64 characters of letters, digits, '.', '_' and '-'";
}

// Milliseconds of 100ms to 3600s; 0 for what is none.
std::uint32_t interval_ms_of(const std::string& text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0 || digits > 7) return 0;
  const std::string unit = text.substr(digits);
  const unsigned long factor = unit == "ms" ? 1 : unit == "s" ? 1'000 : 0;
  const unsigned long ms = std::stoul(text.substr(0, digits)) * factor;
  return ms >= 100 && ms <= 3'600'000 ? static_cast<std::uint32_t>(ms) : 0;
}

void describe(CLI::App& app, Arguments& arguments) {
  add_watch_options(app, arguments.watch);
  app.add_option("--to", arguments.to,
                 "udp://HOST:PORT or unix:/PATH (default udp://127.0.0.1:8125)")
      ->envname("VITRINE_STATSD_TO");
  app.add_option("--interval", arguments.interval, "time between two flushes, 100ms to 3600s");
  app.add_option("--prefix", arguments.prefix, "what every name begins with, as 'site.'")
      ->check(check_prefix);
  app.add_option("--format", arguments.format, "labels in the name, or as tags")
      ->check(CLI::IsMember({"plain", "dogstatsd"}));
}

Result<StatsdOptions> checked(const Arguments& arguments) {
  StatsdOptions options;
  Result<shm::Target> target = target_of(arguments.watch);
  if (!target) return target.error();
  options.target = *std::move(target);
  Result<DatagramTarget> to = parse_datagram_target(arguments.to);
  if (!to) return to.error();
  options.to = *std::move(to);
  options.interval_ms = interval_ms_of(arguments.interval);
  if (options.interval_ms == 0) {
    return Error{ErrorKind::kUsage,
                 "--interval '" + arguments.interval + "' is not 100ms to 3600s, as 1s or 500ms"};
  }
  options.style.prefix = arguments.prefix;
  if (arguments.format == "dogstatsd") options.style.format = StatsdFormat::kDogstatsd;
  options.log_level = arguments.watch.log_level;
  options.log_format = arguments.watch.format();
  return options;
}

}  // namespace

Result<std::variant<StatsdOptions, PrintedText>> parse_statsd_options(int argc,
                                                                      const char* const* argv) {
  CLI::App app("Sends a Vitrine engine's metrics to a StatsD server.", "vitrine-statsd");
  Arguments arguments;
  describe(app, arguments);
  const auto parsed = parse(app, {argc, argv});
  if (!parsed) return parsed.error();
  if (std::holds_alternative<PrintedText>(*parsed)) return std::get<PrintedText>(*parsed);
  Result<StatsdOptions> options = checked(arguments);
  if (!options) return options.error();
  return *std::move(options);
}

}  // namespace vitrine::exporters
