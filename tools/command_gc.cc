// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <memory>

#include "tools/command.h"
#include "tools/dead_segments.h"
#include "tools/status_command.h"
#include "tools/styled_text.h"
#include "tools/terminal.h"

namespace vitrine::tools {
namespace {

using Outcome = CollectedSegment::Outcome;

struct GcFlags {
  bool dry_run = false;
  bool all_users = false;
  bool json = false;
};

std::string_view word_of(Outcome outcome, const GcFlags& flags) {
  switch (outcome) {
    case Outcome::kRemoved:
      return flags.dry_run ? "would remove" : "removed";
    case Outcome::kKept:
      return "kept";
    case Outcome::kFailed:
      break;
  }
  return "failed";
}

std::string text_of(const std::vector<CollectedSegment>& segments, const GcFlags& flags,
                    Charset charset) {
  std::string out;
  for (const CollectedSegment& segment : segments) {
    out += std::string(word_of(segment.outcome, flags)) + " " +
           printable(segment.path.string() + ": " + segment.reason, charset) + "\n";
  }
  return out.empty() ? "no segments\n" : out;
}

std::string json_of(const std::vector<CollectedSegment>& segments, const GcFlags& flags) {
  boost::json::array list;
  for (const CollectedSegment& segment : segments) {
    list.push_back(
        boost::json::object{{"segment_path", printable(segment.path.string(), Charset::kUtf8)},
                            {"outcome", word_of(segment.outcome, flags)},
                            {"reason", printable(segment.reason, Charset::kUtf8)}});
  }
  return boost::json::serialize(boost::json::object{{"segments", std::move(list)}}) + "\n";
}

// All that there are, or of the instance that was named; with --segment that one, and what former
// engines left beside it.
std::vector<shm::SegmentName> meant_segments(const CommonFlags& flags) {
  if (flags.segment.empty()) return segments_of_instance(flags);
  const std::filesystem::path path = flags.segment;
  const std::string instance = shm::instance_part(path);
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::vector<shm::SegmentName> names;
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) names.push_back({instance, path, false});
  for (shm::SegmentName& name : shm::list_segments({{folder}})) {
    if (name.named_dead && name.instance == instance) names.push_back(std::move(name));
  }
  return names;
}

Result<ExitCode> run_gc(const CommandContext& context, const GcFlags& flags) {
  if (flags.all_users && geteuid() != 0) {
    return Error{ExitCode::kUsage, "--all-users: only root may remove what belongs to others"};
  }
  const auto segments = collect_dead_segments(
      meant_segments(context.flags), flags.all_users ? Owners::kAll : Owners::kSelf,
      flags.dry_run ? Removal::kPretend : Removal::kRemove, context.flags.attach);
  const Charset charset = text_style_of(context.output.descriptor()).charset;
  const std::string text =
      flags.json ? json_of(segments, flags) : text_of(segments, flags, charset);
  if (const Result<void> written = context.output.write(text); !written) return written.error();
  const bool has_failed = std::any_of(
      segments.begin(), segments.end(),
      [](const CollectedSegment& segment) { return segment.outcome == Outcome::kFailed; });
  return has_failed ? ExitCode::kFailed : ExitCode::kOk;
}

}  // namespace

Command gc_command() {
  const auto flags = std::make_shared<GcFlags>();
  return {"gc", "Remove the segments of engines that are gone: all, or of --instance",
          "0 done, 1 a segment could not be removed, 2 usage",
          [flags](FlagSet& set) {
            set.toggle("--dry-run", flags->dry_run, "Only say what would be removed");
            set.toggle("--all-users", flags->all_users, "Also those of other users (root only)");
            set.toggle("--json", flags->json, "One JSON document and nothing else");
          },
          [flags](const CommandContext& context) { return run_gc(context, *flags); }};
}

}  // namespace vitrine::tools
