// SPDX-License-Identifier: Apache-2.0
#include "tools/status_command.h"

#include <boost/json/serialize.hpp>
#include <set>

#include "shm/discovery.h"
#include "shm/snapshot_json.h"
#include "tools/terminal.h"

namespace vitrine::tools {

void add_status_flags(FlagSet& set, StatusFlags& flags) {
  set.text("--file", flags.file, "A dead segment or a recording, instead of an instance");
  set.toggle("--json", flags.json, "JSON and nothing else");
}

shm::Target target_of(const CommonFlags& common, const StatusFlags& status) {
  shm::Target target;
  target.instance = common.instance;
  target.options = common.attach;
  if (!status.file.empty()) {
    target.file = status.file;
  } else if (!common.segment.empty()) {
    target.path = common.segment;
  }
  return target;
}

std::vector<shm::SegmentName> segments_of_instance(const CommonFlags& common) {
  std::vector<shm::SegmentName> names = shm::list_segments();
  if (common.is_instance_given) {
    std::erase_if(names, [&](const auto& name) { return name.instance != common.instance; });
  }
  return names;
}

Result<CommonFlags> with_instance(CommonFlags common, const std::string& instance) {
  if (instance.empty()) return common;
  if (common.is_engine_flagged) {
    return Error{ExitCode::kUsage, "'" + instance + "' and " + "--instance or --segment name " +
                                       "two engines; give one"};
  }
  common.instance = instance;
  common.is_instance_given = true;
  return common;
}

Error with_neighbours(Error error, const CommonFlags& common, const StatusFlags& status) {
  constexpr std::size_t kNamed = 8;
  if (error.code != ExitCode::kNoInstance || !common.segment.empty() || !status.file.empty()) {
    return error;
  }
  std::set<std::string> names;
  for (const shm::SegmentName& name : shm::list_segments()) {
    if (!name.named_dead) names.insert(name.instance);
  }
  if (names.empty()) return error;
  std::string list;
  std::size_t count = 0;
  for (const std::string& name : names) {
    if (++count > kNamed) break;
    list += (list.empty() ? "" : ", ") + name;
  }
  if (names.size() > kNamed) list += ", ...";
  error.text += "; instances here: " + list + "; see 'vitrine ls'";
  return error;
}

Result<ExitCode> show_status(const CommandContext& context, const StatusFlags& flags,
                             const StatusScreen& screen) {
  shm::Attachment attachment(target_of(context.flags, flags));
  const shm::Observation& observation = attachment.observe_settled();
  const auto code = static_cast<ExitCode>(shm::exit_code_of(observation));
  if (!observation.snapshot) {
    return with_neighbours(
        {code, observation.error ? observation.error->text : observation.verdict.reason},
        context.flags, flags);
  }
  std::string text;
  if (flags.json) {
    text = boost::json::serialize(shm::to_json(observation, screen.sections)) + "\n";
  } else {
    text = screen.text(View(observation, text_style_of(context.output.descriptor())));
  }
  if (const Result<void> written = context.output.write(text); !written) return written.error();
  return code;
}

}  // namespace vitrine::tools
