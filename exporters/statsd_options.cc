// SPDX-License-Identifier: Apache-2.0
#include "exporters/statsd_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "shm/paths.h"
#include "shm/user_id.h"

namespace vitrine::exporters {
namespace {

constexpr std::size_t kPrefixBytesMax = 64;

struct Arguments {
  std::string instance = "main";
  std::string segment;
  std::string owner;
  bool any_filesystem = false;
  std::string to = "udp://127.0.0.1:8125";
  std::string interval = "1s";
  std::string prefix;
  std::string format = "plain";
  std::string log_level = "info";
  std::string log_format = "text";
};

std::string check_instance(const std::string& name) {
  if (shm::is_instance_name(name)) return {};
  return "'" + name + "' is not 1 to 32 characters of a-z, 0-9, _ and -, not first a -";
}

std::string check_not_empty(const std::string& text) {
  return text.empty() ? "'' is not a path: it is empty" : "";
}

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
  app.set_version_flag("--version", "vitrine-statsd " VITRINE_VERSION);
  app.add_option("--instance", arguments.instance, "name of the engine instance to send")
      ->envname("VITRINE_INSTANCE")
      ->check(check_instance);
  app.add_option("--segment", arguments.segment,
                 "path of the segment; the instance is not searched")
      ->envname("VITRINE_SEGMENT")
      ->check(check_not_empty);
  app.add_option("--owner", arguments.owner,
                 "also trust segments of this user, by name or uid, where others can write");
  app.add_flag("--any-filesystem", arguments.any_filesystem,
               "also map segments that are not in a tmpfs");
  app.add_option("--to", arguments.to,
                 "udp://HOST:PORT or unix:/PATH (default udp://127.0.0.1:8125)")
      ->envname("VITRINE_STATSD_TO");
  app.add_option("--interval", arguments.interval, "time between two flushes, 100ms to 3600s");
  app.add_option("--prefix", arguments.prefix, "what every name begins with, as 'site.'")
      ->check(check_prefix);
  app.add_option("--format", arguments.format, "labels in the name, or as tags")
      ->check(CLI::IsMember({"plain", "dogstatsd"}));
  app.add_option("--log-level", arguments.log_level, "what to log")
      ->envname("VITRINE_LOG_LEVEL")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error", "off"}));
  app.add_option("--log-format", arguments.log_format, "how to log")
      ->envname("VITRINE_LOG_FORMAT")
      ->check(CLI::IsMember({"text", "json"}));
}

Result<StatsdOptions> checked(const Arguments& arguments) {
  StatsdOptions options;
  options.target.instance = arguments.instance;
  if (!arguments.segment.empty()) options.target.path = arguments.segment;
  options.target.options.any_filesystem = arguments.any_filesystem;
  if (!arguments.owner.empty()) {
    options.target.options.owner = shm::find_user(arguments.owner);
    if (!options.target.options.owner) {
      return Error{ErrorKind::kUsage,
                   "--owner: '" + arguments.owner + "' is no user of this machine"};
    }
  }
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
  options.log_level = arguments.log_level;
  options.log_format = arguments.log_format == "json" ? LogFormat::kJson : LogFormat::kText;
  return options;
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

Result<std::variant<StatsdOptions, PrintedText>> parse_statsd_options(int argc,
                                                                      const char* const* argv) {
  CLI::App app("Sends a Vitrine engine's metrics to a StatsD server.", "vitrine-statsd");
  Arguments arguments;
  describe(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForVersion& asked) {
    return PrintedText{std::string(asked.what()) + "\n"};
  } catch (const CLI::CallForHelp&) {
    return PrintedText{app.help()};
  } catch (const CLI::ParseError& wrong) {
    return Error{ErrorKind::kUsage, one_line(wrong.what())};
  }
  Result<StatsdOptions> options = checked(arguments);
  if (!options) return options.error();
  return *std::move(options);
}

}  // namespace vitrine::exporters
