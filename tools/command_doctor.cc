// SPDX-License-Identifier: Apache-2.0
#include <boost/json/serialize.hpp>
#include <memory>

#include "tools/command.h"
#include "tools/doctor.h"
#include "tools/terminal.h"

namespace vitrine::tools {
namespace {

struct DoctorFlags {
  bool json = false;
};

Result<ExitCode> run_doctor(const CommandContext& context, const DoctorFlags& flags) {
  std::optional<std::filesystem::path> segment;
  if (!context.flags.segment.empty()) segment = context.flags.segment;
  const Findings findings = examine_host(segment, context.flags.attach);
  const TextStyle style = text_style_of(context.output.descriptor());
  const std::string text = flags.json ? boost::json::serialize(findings_json(findings)) + "\n"
                                      : findings_text(findings, style);
  if (const Result<void> written = context.output.write(text); !written) return written.error();
  return has_faults(findings) ? ExitCode::kFailed : ExitCode::kOk;
}

}  // namespace

Command doctor_command() {
  const auto flags = std::make_shared<DoctorFlags>();
  return {"doctor", "What is wrong on this machine, and the command that puts it right",
          "0 nothing wrong, 1 a warning or a problem, 2 usage",
          [flags](FlagSet& set) {
            set.toggle("--json", flags->json, "One JSON document and nothing else");
          },
          [flags](const CommandContext& context) { return run_doctor(context, *flags); }};
}

}  // namespace vitrine::tools
