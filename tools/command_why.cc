// SPDX-License-Identifier: Apache-2.0
#include <boost/json/serialize.hpp>
#include <memory>

#include "shm/snapshot_json.h"
#include "tools/status_command.h"
#include "tools/terminal.h"
#include "tools/wait_chain.h"

namespace vitrine::tools {
namespace {

struct WhyFlags {
  std::string item;
  StatusFlags status;
};

Result<ExitCode> run_why(const CommandContext& context, const WhyFlags& flags) {
  const auto item = parse_waiting_item(flags.item);
  if (!item) return item.error();
  shm::Attachment attachment(target_of(context.flags, flags.status));
  const shm::Observation& observation = attachment.observe_settled();
  const auto code = static_cast<ExitCode>(shm::exit_code_of(observation));
  if (!observation.snapshot) {
    return with_neighbours(
        {code, observation.error ? observation.error->text : observation.verdict.reason},
        context.flags, flags.status);
  }
  const View view(observation, text_style_of(context.output.descriptor()));
  const auto chain = wait_chain(view, *item);
  if (!chain) {
    return Error(ExitCode::kLost,
                 "the segment of " + printable(observation.identity.instance, Charset::kUtf8) +
                     " does not show " + flags.item + "; 'vitrine jobs' lists what it shows");
  }
  std::string text = wait_chain_text(*chain);
  if (flags.status.json) {
    boost::json::object document = shm::to_json(observation, std::vector<std::string>{"engine"});
    document["why"] = wait_chain_json(*chain);
    text = boost::json::serialize(document) + "\n";
  }
  if (const Result<void> written = context.output.write(text); !written) return written.error();
  return code;
}

}  // namespace

Command why_command() {
  const auto flags = std::make_shared<WhyFlags>();
  return {"why", "What a job or a partition waits for, and who holds that",
          std::string(kStatusExitCodes) + ", 9 no such job",
          [flags](FlagSet& set) {
            FlagSet::require(set.text("ID", flags->item, "JOB or JOB/PARTITION"));
            add_status_flags(set, flags->status);
          },
          [flags](const CommandContext& context) { return run_why(context, *flags); }};
}

}  // namespace vitrine::tools
