// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <boost/json/serialize.hpp>
#include <memory>
#include <string_view>

#include "tools/health_check.h"
#include "tools/status_command.h"

namespace vitrine::tools {
namespace {

struct CheckFlags {
  StatusFlags status;
  bool live = false;
  bool ready = false;
  std::string format;  // empty: plain
};

HealthQuestion question_of(const CheckFlags& flags) {
  if (flags.live) return HealthQuestion::kLive;
  return flags.ready ? HealthQuestion::kReady : HealthQuestion::kState;
}

// Of a check that got no answer: a probe knows only yes and no.
ExitCode no_answer(HealthQuestion question) {
  return question == HealthQuestion::kState ? ExitCode::kCheckUnknown : ExitCode::kFailed;
}

std::string answer_text(const shm::Observation& observation, const CheckFlags& flags) {
  const HealthQuestion question = question_of(flags);
  if (flags.status.json || flags.format == "json") {
    return boost::json::serialize(health_json(observation, question)) + "\n";
  }
  return flags.format == "nagios" ? health_nagios(observation, question)
                                  : health_plain(observation, question);
}

Result<ExitCode> run_check(const CommandContext& context, const CheckFlags& flags) {
  const HealthQuestion question = question_of(flags);
  if (flags.live && flags.ready) {
    return Error{no_answer(question), "--live and --ready are two questions; ask one"};
  }
  if (flags.status.json && !flags.format.empty() && flags.format != "json") {
    return Error{no_answer(question),
                 "--json and --format " + flags.format + " are two forms; ask for one"};
  }
  shm::Attachment attachment(target_of(context.flags, flags.status));
  const shm::Observation& observation = attachment.observe_settled();
  const auto written = context.output.write(answer_text(observation, flags));
  if (!written) return Error{no_answer(question), written.error().text};
  return health_code(observation, question);
}

// The flags could not be read, so what was asked is told by the words themselves.
ExitCode usage_code(std::span<const char* const> arguments) {
  const bool is_probe = std::ranges::any_of(arguments, [](std::string_view argument) {
    return argument == "--live" || argument == "--ready";
  });
  return no_answer(is_probe ? HealthQuestion::kLive : HealthQuestion::kState);
}

}  // namespace

Command check_command() {
  const auto flags = std::make_shared<CheckFlags>();
  return {"check",
          "One line for probes and monitors; the exit code is the answer",
          "0 well or starting, 1 degraded or draining, 2 hung, dead or exited, 3 not known or "
          "usage; with --live or --ready 0 yes, 1 no",
          [flags](FlagSet& set) {
            add_status_flags(set, flags->status);
            set.toggle("--live", flags->live, "Is the process there and not hung?");
            set.toggle("--ready", flags->ready, "Does it take work?");
            set.choice("--format", flags->format, {"plain", "json", "nagios"},
                       "Form of the answer; nagios has performance data");
          },
          [flags](const CommandContext& context) { return run_check(context, *flags); },
          usage_code};
}

}  // namespace vitrine::tools
