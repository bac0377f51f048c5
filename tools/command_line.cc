// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "tools/command.h"

namespace vitrine::tools {
namespace {

std::vector<Command> built_in_commands() {
  return {ls_command(),     show_command(),    jobs_command(),   workers_command(),
          memory_command(), events_command(),  check_command(),  post_mortem_command(),
          doctor_command(), errors_command(),  why_command(),    schema_command(),
          record_command(), replay_command(),  trace_command(),  load_command(),
          diff_command(),   conform_command(), gc_command(),     submit_command(),
          wait_command(),   cancel_command(),  pause_command(),  resume_command(),
          drain_command(),  device_command(),  reload_command(), srs_command()};
}

void add_common_flags(CLI::App& app, CommonFlags& flags) {
  app.set_version_flag("--version", "vitrine " VITRINE_VERSION);
  FlagSet set(app);
  CLI::Option* instance =
      set.instance("--instance", flags.instance, "Name of the engine's instance (main)");
  FlagSet::environment(instance, "VITRINE_INSTANCE");
  FlagSet::environment(set.text("--segment", flags.segment, "Path of the engine's segment"),
                       "VITRINE_SEGMENT");
  set.user("--owner", flags.attach.owner,
           "Also trust segments of this user, by name or uid, where others can write");
  set.toggle("--any-filesystem", flags.attach.any_filesystem,
             "Also map segments that are not in a tmpfs");
  FlagSet::environment(
      set.choice("--log-level", flags.log_level, {"trace", "debug", "info", "warn", "error", "off"},
                 "How much to say on standard error"),
      "VITRINE_LOG_LEVEL");
  FlagSet::environment(
      set.choice("--log-format", flags.log_format, {"text", "json"}, "In which form to say it"),
      "VITRINE_LOG_FORMAT");
}

Diagnostics diagnostics_of(const CommonFlags& flags) {
  return Diagnostics(log_level_of(flags.log_level),
                     flags.log_format == "json" ? LogFormat::kJson : LogFormat::kText);
}

ExitCode run(const Command& command, const CommonFlags& flags) {
  const Diagnostics diagnostics = diagnostics_of(flags);
  Output output(STDOUT_FILENO);
  const Result<ExitCode> result = command.run({flags, output, diagnostics});
  if (result) return *result;
  diagnostics.error(result.error().text);
  return result.error().code;
}

ExitCode print(const std::string& text, const CommonFlags& flags) {
  const Result<void> written = Output(STDOUT_FILENO).write(text);
  if (written) return ExitCode::kOk;
  diagnostics_of(flags).error(written.error().text);
  return written.error().code;
}

std::string missing_command_text(const std::vector<Command>& commands) {
  std::string names;
  for (const Command& command : commands) names += (names.empty() ? "" : ", ") + command.name;
  return "a command is required: " + names + "; 'vitrine --help' says what each does";
}

// Laid out as the library lays out the built-in ones.
std::string external_commands_help() {
  constexpr std::array<std::pair<const char*, const char*>, 5> kPrograms = {
      {{"report", "Pack what somebody who helps needs to see"},
       {"prove", "Make proofs from a key and witnesses, without an engine"},
       {"verify", "Check a proof against a verification key and public inputs"},
       {"genkey", "Make keys and witnesses to play with; insecure"},
       {"http", "Serve the status page and JSON of an engine on this machine"}}};
  std::string text = "Programs of their own ('vitrine NAME' runs vitrine-NAME):\n";
  for (const auto& [name, help] : kPrograms) {
    std::string line = "  " + std::string(name);
    line.resize(30, ' ');
    text += line + help + "\n";
  }
  return text + "\nExit codes are in 'vitrine COMMAND --help' and docs/exit-codes.md.";
}

const Command* chosen_of(const CLI::App& app, const std::vector<Command>& commands) {
  if (app.get_subcommands().empty()) return nullptr;
  const std::string name = app.get_subcommands().front()->get_name();
  return &*std::find_if(commands.begin(), commands.end(),
                        [&](const Command& command) { return command.name == name; });
}

// Why the program ends before a command runs; nothing when it goes on. `usage_code` answers what
// bad usage ends in.
std::optional<ExitCode> parse(CLI::App& app, std::span<const char* const> arguments,
                              CommonFlags& flags, const std::function<ExitCode()>& usage_code) {
  try {
    app.parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (const CLI::CallForHelp&) {
    return print(app.help(), flags);
  } catch (const CLI::CallForVersion& version) {
    return print(std::string(version.what()) + "\n", flags);
  } catch (const CLI::ParseError& problem) {
    std::string line = problem.what();
    std::replace(line.begin(), line.end(), '\n', ' ');  // the library's own breaks
    diagnostics_of(flags).error(line);
    return usage_code();
  }
  flags.is_instance_given = app.get_option("--instance")->count() > 0;
  flags.is_engine_flagged = std::ranges::any_of(arguments, [](std::string_view argument) {
    const std::string_view name = argument.substr(0, argument.find('='));
    return name == "--instance" || name == "--segment";
  });
  return std::nullopt;
}

void add_command(CLI::App& app, const Command& command) {
  FlagSet set(app);
  command.add_flags(set);
  app.footer("Exit codes: " + command.exit_codes + ".");
}

// Where the command's name is: behind the flags that every command has, and their values. Nothing
// when another flag comes before it, or none comes.
std::optional<std::size_t> place_of_command(std::span<const char* const> arguments) {
  CLI::App app;
  CommonFlags flags;
  add_common_flags(app, flags);
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string argument = arguments[i];
    if (!argument.starts_with('-')) return i;
    const std::size_t equals = argument.find('=');
    const CLI::Option* option = app.get_option_no_throw(argument.substr(0, equals));
    if (option == nullptr || argument == "--version" || argument == "--help") return std::nullopt;
    if (equals == std::string::npos && option->get_items_expected_max() > 0) ++i;
  }
  return std::nullopt;
}

ExitCode usage_code_of(const Command* command, std::span<const char* const> arguments) {
  const bool has_own = command != nullptr && command->usage_code;
  return has_own ? command->usage_code(arguments) : ExitCode::kUsage;
}

}  // namespace

ExitCode run_command_line(int argument_count, const char* const* arguments) {
  const std::span given(arguments, static_cast<std::size_t>(argument_count));
  CLI::App app("See into a Vitrine proving engine and give it work.", "vitrine");
  CommonFlags flags;
  add_common_flags(app, flags);
  const std::vector<Command> commands = built_in_commands();
  for (const Command& command : commands) {
    CLI::App* subcommand = app.add_subcommand(command.name, command.help)->fallthrough();
    // The flags of the others are not asked for, and all of them take longer than most commands.
    if (std::ranges::find(given, command.name) != given.end()) add_command(*subcommand, command);
  }
  app.require_subcommand(0, 1);  // that one is there is asked below, with a better answer
  app.footer(external_commands_help());
  const auto usage_code = [&] { return usage_code_of(chosen_of(app, commands), given); };
  if (const auto code = parse(app, given, flags, usage_code)) return *code;
  const Command* chosen = chosen_of(app, commands);
  if (chosen == nullptr) {
    diagnostics_of(flags).error(missing_command_text(commands));
    return ExitCode::kUsage;
  }
  return run(*chosen, flags);
}

ExitCode run_command_program(const Command& command, int argument_count,
                             const char* const* arguments) {
  const std::span given(arguments, static_cast<std::size_t>(argument_count));
  CLI::App app(command.help, "vitrine-" + command.name);
  CommonFlags flags;
  add_common_flags(app, flags);
  add_command(app, command);
  const auto usage_code = [&] { return usage_code_of(&command, given); };
  if (const auto code = parse(app, given, flags, usage_code)) return *code;
  return run(command, flags);
}

std::optional<ExternalCommand> external_command_of(int argument_count,
                                                   const char* const* arguments) {
  const std::span given(arguments, static_cast<std::size_t>(argument_count));
  const std::optional<std::size_t> place = place_of_command(given);
  if (!place || *given[*place] == '\0') return std::nullopt;
  ExternalCommand external{given[*place], {}};
  for (const Command& command : built_in_commands()) {
    if (command.name == external.name) return std::nullopt;
  }
  for (std::size_t i = 1; i < given.size(); ++i) {
    if (i != *place) external.arguments.emplace_back(given[i]);
  }
  return external;
}

}  // namespace vitrine::tools
