// SPDX-License-Identifier: Apache-2.0
// What every section of a status screen is made from: one observation, and how text is to look.
//
// Why   sections are pure functions of a View, so tests compare them with text written by hand.
//       Texts and numbers of a segment are untrusted; they reach a terminal through text() only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shm/attachment.h"
#include "tools/styled_text.h"

namespace vitrine::tools {

class View {
 public:
  // Requires an observation with a snapshot; both outlive the view.
  View(const shm::Observation& observation, const TextStyle& style)
      : observation_(observation), style_(style) {}

  const shm::Observation& observation() const { return observation_; }
  const shm::Snapshot& snapshot() const { return *observation_.snapshot; }
  const TextStyle& style() const { return style_; }
  bool engine_is_gone() const { return !shm::is_alive(observation_.verdict.word); }

  // Time from the instant to now, or to the last sign of life of an engine that is gone: what it
  // had been doing then, and for how long. Below zero for an instant to come.
  std::int64_t age_ns(shm::Instant instant) const;
  // The same as text; "-" when absent, "0ms" for an instant to come.
  std::string age(shm::Instant instant) const;
  // Time between two instants; to now when only the first is set.
  std::string span(shm::Instant begin, shm::Instant end) const;
  // Text from the segment, made safe; "-" when empty.
  std::string text(std::string_view text) const;
  // The engine's own word for the stage when it has one, else the standard one.
  std::string stage(const shm::PartitionRecord& partition) const;
  std::string stage(const shm::WorkerRecord& worker) const;  // of the partition in hand
  // A number that may be absent.
  std::string number(shm::Index index) const;

 private:
  const shm::Observation& observation_;
  TextStyle style_;
};

// The sections; each ends with a line break, and is empty when there is nothing to show.
std::string header_section(const View& view);  // verdict and evidence, who, since when
std::string devices_section(const View& view);
std::string workers_section(const View& view);
std::string memory_section(const View& view);       // the budget by consumer
std::string allocations_section(const View& view);  // resident keys and matrices
std::string queues_section(const View& view);
std::string failures_section(const View& view);  // the last few failed jobs, newest first
// The last stage of every partition of the jobs that had not ended: what a dead engine was doing.
// Neighbours that wait, or that are over, share a line.
std::string partitions_section(const View& view);
// When and how an engine that is gone ended, and which file tells.
std::string death_section(const View& view);
// The distinct errors, the last first.
std::string errors_section(const View& view);
// The state once a minute up to the end, oldest first.
std::string history_section(const View& view, const std::vector<shm::HistorySample>& history);
// The first `limit` jobs: unfinished ones by id, then finished ones, newest first.
std::string jobs_section(const View& view, std::size_t limit);

}  // namespace vitrine::tools
