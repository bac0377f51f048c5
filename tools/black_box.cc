// SPDX-License-Identifier: Apache-2.0
#include "tools/black_box.h"

#include <optional>

#include "shm/discovery.h"

namespace vitrine::tools {
namespace {

namespace fs = std::filesystem;

// The names in life and after death under which the instance's segments may lie.
std::vector<fs::path> possible_boxes(const shm::Target& target) {
  std::vector<fs::path> paths;
  for (const fs::path& live :
       shm::segment_candidates(target.instance, target.path, target.places)) {
    paths.push_back(live);
    const fs::path folder = live.has_parent_path() ? live.parent_path() : fs::path(".");
    for (const shm::SegmentName& name : shm::list_segments({{folder}})) {
      if (name.named_dead && name.instance == shm::instance_part(live)) paths.push_back(name.path);
    }
  }
  return paths;
}

std::int64_t last_beat_unix_ns(const shm::Attachment& attachment) {
  const shm::Snapshot& snapshot = *attachment.last().snapshot;
  return snapshot.unix_ns_of(shm::Instant{snapshot.heartbeat_monotonic_ns});
}

Error unreadable(const shm::Error& error) {
  const bool is_absent = error.kind == shm::ErrorKind::kAbsent;
  return {is_absent ? ExitCode::kNoInstance : ExitCode::kUnreadable, error.text};
}

Result<shm::Attachment> attach_file(const shm::Target& target) {
  shm::Attachment attachment(target);
  const shm::Observation& observation = attachment.observe();
  if (!observation.snapshot) return unreadable(*observation.error);
  if (observation.liveness.lock_held) {
    return Error{ExitCode::kNoInstance, target.file->string() +
                                            ": its engine lived when it was recorded; 'vitrine "
                                            "show' shows it"};
  }
  return attachment;
}

}  // namespace

Result<shm::Attachment> attach_black_box(const shm::Target& target) {
  if (target.file) return attach_file(target);
  std::optional<shm::Attachment> newest;
  std::optional<shm::Error> problem;
  bool is_served = false;
  for (const fs::path& path : possible_boxes(target)) {
    shm::Target one = target;
    one.path = path;
    shm::Attachment attachment(one);
    const shm::Observation& observation = attachment.observe();
    if (!observation.snapshot) {
      if (observation.error->kind != shm::ErrorKind::kAbsent) problem = observation.error;
    } else if (observation.liveness.lock_held) {
      is_served = true;
    } else if (!newest || last_beat_unix_ns(attachment) > last_beat_unix_ns(*newest)) {
      newest = std::move(attachment);
    }
  }
  if (newest) return std::move(*newest);
  if (problem) return unreadable(*problem);
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
  auto read = attachment.reader()->events_after(newest > count ? newest - count : 0, count);
  if (read) {
    last.events = std::move(read->events);
  } else {
    last.problem = read.error().text;
  }
  return last;
}

std::vector<shm::HistorySample> read_history(shm::Attachment& attachment) {
  auto read = attachment.reader()->history();
  return read ? std::move(*read) : std::vector<shm::HistorySample>();
}

}  // namespace vitrine::tools
