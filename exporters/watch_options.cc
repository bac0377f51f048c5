// SPDX-License-Identifier: Apache-2.0
#include "exporters/watch_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "shm/paths.h"
#include "shm/user_id.h"

namespace vitrine::exporters {

namespace {

std::string check_instance(const std::string& name) {
  if (shm::is_instance_name(name)) return {};
  return "'" + name + "' is not 1 to 32 characters of a-z, 0-9, _ and -, not first a -";
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

void add_watch_options(CLI::App& app, WatchArguments& arguments) {
  app.set_version_flag("--version", app.get_name() + " " VITRINE_VERSION);
  app.add_option("--instance", arguments.instance, "name of the engine instance to show")
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
  app.add_option("--log-level", arguments.log_level, "what to log")
      ->envname("VITRINE_LOG_LEVEL")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error", "off"}));
  app.add_option("--log-format", arguments.log_format, "how to log")
      ->envname("VITRINE_LOG_FORMAT")
      ->check(CLI::IsMember({"text", "json"}));
}

Result<shm::Target> target_of(const WatchArguments& arguments) {
  shm::Target target;
  target.instance = arguments.instance;
  if (!arguments.segment.empty()) target.path = arguments.segment;
  target.options.any_filesystem = arguments.any_filesystem;
  if (arguments.owner.empty()) return target;
  target.options.owner = shm::find_user(arguments.owner);
  if (target.options.owner) return target;
  return Error{ErrorKind::kUsage, "--owner: '" + arguments.owner + "' is no user of this machine"};
}

Result<std::variant<std::monostate, PrintedText>> parse(CLI::App& app, const CommandLine& line) {
  try {
    app.parse(line.argc, line.argv);
  } catch (const CLI::CallForVersion& asked) {
    return PrintedText{std::string(asked.what()) + "\n"};
  } catch (const CLI::CallForHelp&) {
    return PrintedText{app.help()};
  } catch (const CLI::ParseError& wrong) {
    return Error{ErrorKind::kUsage, one_line(wrong.what())};
  }
  return std::monostate{};
}

std::string check_not_empty(const std::string& text) {
  return text.empty() ? "'' is not a path: it is empty" : "";
}

}  // namespace vitrine::exporters
