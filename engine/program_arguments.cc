// SPDX-License-Identifier: Apache-2.0
#include "engine/program_arguments.h"

#include <algorithm>

#include "engine/exit_codes.h"
#include "engine/program_output.h"
#include "shm/paths.h"

namespace vitrine::engine {
namespace {

std::string check_instance(const std::string& name) {
  if (shm::is_instance_name(name)) return {};
  return "'" + name + "' is not 1 to 32 characters of a-z, 0-9, _ and -, not first a -";
}

}  // namespace

void add_general_options(CLI::App& app, GeneralOptions& options) {
  app.set_version_flag("--version", app.get_name() + " " VITRINE_VERSION);
  app.add_option("--instance", options.instance, "name of the engine instance")
      ->envname("VITRINE_INSTANCE")
      ->check(check_instance);
  app.add_option("--segment", options.segment, "path of the segment")->envname("VITRINE_SEGMENT");
  app.add_option("--log-level", options.log_level, "what to log")
      ->envname("VITRINE_LOG_LEVEL")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error", "off"}));
  app.add_option("--log-format", options.log_format, "how to log")
      ->envname("VITRINE_LOG_FORMAT")
      ->check(CLI::IsMember({"text", "json"}));
}

void disown_engine_options(CLI::App& app) {
  for (const char* name : {"--instance", "--segment"}) {
    app.get_option(name)->description("taken by every program, without a meaning here");
  }
}

std::optional<int> parse_arguments(CLI::App& app, int argc, const char* const* argv) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::CallForVersion& asked) {
    return finish_with_output(app, std::string(asked.what()) + "\n");
  } catch (const CLI::CallForHelp&) {
    return finish_with_output(app, app.help());
  } catch (const CLI::ParseError& wrong) {
    std::string line = wrong.what();
    std::replace(line.begin(), line.end(), '\n', ' ');  // the library's own breaks
    return report_failure(app, line, kExitUsage);
  }
}

}  // namespace vitrine::engine
