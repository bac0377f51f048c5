// SPDX-License-Identifier: Apache-2.0
#include <boost/json/serialize.hpp>
#include <memory>

#include "tools/black_box.h"
#include "tools/post_mortem.h"
#include "tools/status_command.h"
#include "tools/terminal.h"

namespace vitrine::tools {
namespace {

constexpr std::uint64_t kEventsShown = 50;

struct PostMortemFlags {
  StatusFlags status;
  std::string instance;  // empty: --instance
};

Result<ExitCode> run_post_mortem(const CommandContext& context, const PostMortemFlags& flags) {
  const Result<CommonFlags> named = with_instance(context.flags, flags.instance);
  if (!named) return named.error();
  const CommonFlags& common = *named;
  Result<BlackBox> box = attach_black_box(target_of(common, flags.status));
  if (!box) return with_neighbours(box.error(), common, flags.status);
  for (const std::string& line : box->passed_over) context.diagnostics.warn("passed over: " + line);
  shm::Attachment& attachment = box->attachment;
  const LastEvents last = read_last_events(attachment, kEventsShown);
  const std::vector<shm::HistorySample> history = read_history(attachment);
  const shm::Observation& observation = attachment.last();
  const TextStyle style = text_style_of(context.output.descriptor());
  const std::string text =
      flags.status.json
          ? boost::json::serialize(post_mortem_json(observation, last, history)) + "\n"
          : post_mortem_text(View(observation, style), last, history);
  if (const Result<void> written = context.output.write(text); !written) return written.error();
  return static_cast<ExitCode>(shm::exit_code_of(observation));
}

}  // namespace

Command post_mortem_command() {
  const auto flags = std::make_shared<PostMortemFlags>();
  return {"post-mortem", "How an engine ended and what it was doing",
          "1 output not writable, 2 usage, 3 no engine of that instance is dead, 4 shown, "
          "5 not readable",
          [flags](FlagSet& set) {
            set.instance("INSTANCE", flags->instance, "The instance, instead of --instance");
            add_status_flags(set, flags->status);
          },
          [flags](const CommandContext& context) { return run_post_mortem(context, *flags); }};
}

}  // namespace vitrine::tools
