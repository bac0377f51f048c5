// SPDX-License-Identifier: Apache-2.0
#include "tools/black_box.h"

#include <optional>

#include "shm/discovery.h"

namespace vitrine::tools {
namespace {

namespace fs = std::filesystem;

// The names in life and after death under which the instance's segments may lie.
std::vector<shm::SegmentName> possible_boxes(const shm::Target& target) {
  std::vector<shm::SegmentName> names;
  for (const fs::path& live :
       shm::segment_candidates(target.instance, target.path, target.places)) {
    names.push_back({shm::instance_part(live), live, false});
    const fs::path folder = live.has_parent_path() ? live.parent_path() : fs::path(".");
    for (shm::SegmentName& name : shm::list_segments({{folder}})) {
      const bool is_meant = name.named_dead && name.instance == shm::instance_part(live);
      if (is_meant) names.push_back(std::move(name));
    }
  }
  return names;
}

// Whether the name in death is the one that this segment's engine would have got.
bool is_named_rightly(const shm::SegmentName& name, const shm::Observation& observation) {
  const std::string ending = "." + observation.identity.incarnation + ".dead";
  return !name.named_dead || name.path.string().ends_with(ending);
}

std::int64_t last_beat_unix_ns(const shm::Attachment& attachment) {
  const shm::Snapshot& snapshot = *attachment.last().snapshot;
  return snapshot.unix_ns_of(shm::Instant{snapshot.heartbeat_monotonic_ns});
}

Result<BlackBox> attach_file(const shm::Target& target) {
  shm::Attachment attachment(target);
  const shm::Observation& observation = attachment.observe();
  if (!observation.snapshot) return reading_error(*observation.error);
  if (observation.liveness.lock_held) {
    return Error{ExitCode::kNoInstance, target.file->string() +
                                            ": its engine lived when it was recorded; 'vitrine "
                                            "show' shows it"};
  }
  return BlackBox{std::move(attachment), {}};
}

}  // namespace

Result<BlackBox> attach_black_box(const shm::Target& target) {
  if (target.file) return attach_file(target);
  std::optional<shm::Attachment> newest;
  std::optional<shm::Error> problem;
  std::vector<std::string> passed_over;
  bool is_served = false;
  for (const shm::SegmentName& name : possible_boxes(target)) {
    shm::Target one = target;
    one.path = name.path;
    shm::Attachment attachment(one);
    const shm::Observation& observation = attachment.observe();
    if (!observation.snapshot) {
      if (observation.error->kind == shm::ErrorKind::kAbsent) continue;
      problem = observation.error;
      passed_over.push_back(observation.error->text);
    } else if (!is_named_rightly(name, observation)) {
      passed_over.push_back(name.path.string() + ": is the segment of another engine, " +
                            observation.identity.incarnation);
    } else if (observation.liveness.lock_held) {
      is_served = true;
    } else if (!newest || last_beat_unix_ns(attachment) > last_beat_unix_ns(*newest)) {
      newest = std::move(attachment);
    }
  }
  if (newest) return BlackBox{std::move(*newest), std::move(passed_over)};
  if (problem) return reading_error(*problem);
  if (is_served) {
    return Error{ExitCode::kNoInstance, "instance " + target.instance +
                                            " lives, and no engine before it left a segment; "
                                            "'vitrine show' shows it"};
  }
  const auto path = shm::find_segment(target.instance, target.path, target.places);
  return Error{ExitCode::kNoInstance,
               path ? path->string() + ": no such segment" : path.error().text};
}

LastEvents read_last_events(shm::Attachment& attachment, std::uint64_t count) {
  LastEvents last;
  const std::uint64_t newest = attachment.last().snapshot->last_event_sequence;
  std::uint64_t reached = newest > count ? newest - count : 0;
  // A batch ends where events were lost.
  while (last.events.size() < count) {
    auto read = attachment.reader()->events_after(reached, count - last.events.size());
    if (!read) last.problem = read.error().text;
    if (!read || read->events.empty()) break;
    reached = read->last_sequence;
    last.events.insert(last.events.end(), read->events.begin(), read->events.end());
  }
  if (!last.problem.empty()) last.events.clear();
  return last;
}

std::vector<shm::HistorySample> read_history(shm::Attachment& attachment) {
  auto read = attachment.reader()->history();
  return read ? std::move(*read) : std::vector<shm::HistorySample>();
}

}  // namespace vitrine::tools
