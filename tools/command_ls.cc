// SPDX-License-Identifier: Apache-2.0
#include <boost/json/serialize.hpp>
#include <memory>

#include "tools/command.h"
#include "tools/instance_list.h"
#include "tools/status_command.h"
#include "tools/terminal.h"

namespace vitrine::tools {
namespace {

struct LsFlags {
  bool json = false;
};

shm::SegmentName named_segment(const CommonFlags& flags) {
  return {"", flags.segment, false};  // whose it is only the segment itself can say
}

Result<ExitCode> run_ls(const CommandContext& context, const LsFlags& flags) {
  const std::string& only = context.flags.segment;
  const std::vector<ListedInstance> instances =
      list_instances(only.empty() ? segments_of_instance(context.flags)
                                  : std::vector{named_segment(context.flags)},
                     context.flags.attach);
  if (!only.empty() && instances.empty()) {
    return Error{ExitCode::kNoInstance, only + ": no such segment"};
  }
  if (context.flags.is_instance_given && instances.empty()) {
    return Error{ExitCode::kNoInstance, "no engine '" + context.flags.instance + "'"};
  }
  const int terminal = context.output.descriptor();
  const std::string text =
      flags.json ? boost::json::serialize(instances_json(instances)) + "\n"
                 : instances_text(instances, text_style_of(terminal), unbroken_columns(terminal));
  if (const Result<void> written = context.output.write(text); !written) return written.error();
  return worst_exit_code(instances);
}

}  // namespace

Command ls_command() {
  const auto flags = std::make_shared<LsFlags>();
  return {"ls", "Every engine of this machine, or of --instance, one line each",
          std::string(kStatusExitCodes) + "; the highest of all instances",
          [flags](FlagSet& set) {
            set.toggle("--json", flags->json, "One JSON document and nothing else");
          },
          [flags](const CommandContext& context) { return run_ls(context, *flags); }};
}

}  // namespace vitrine::tools
