// SPDX-License-Identifier: Apache-2.0
#include "tools/post_mortem.h"

#include <algorithm>
#include <boost/json/array.hpp>

#include "shm/snapshot_json.h"
#include "shm/time_text.h"
#include "tools/event_text.h"

namespace vitrine::tools {
namespace {

std::size_t unfinished_jobs(const shm::Snapshot& snapshot) {
  return static_cast<std::size_t>(
      std::ranges::count_if(snapshot.rows<shm::JobRecord>(),
                            [](const shm::JobRecord& job) { return !shm::is_final(job.state); }));
}

// The jobs in flight; all that there are when none is, so that nothing looks forgotten.
std::string jobs_in_flight(const View& view) {
  const std::size_t count = unfinished_jobs(view.snapshot());
  return count == 0 ? "no job was in flight\n" : jobs_section(view, count);
}

std::string events_text(const View& view, const LastEvents& last) {
  if (!last.problem.empty()) return "events cannot be read: " + view.text(last.problem) + "\n";
  if (last.events.empty()) return "";
  std::string out = "LAST EVENTS\n";
  for (const shm::Event& event : last.events) out += event_text(event, view.snapshot()) + "\n";
  return out;
}

}  // namespace

std::string post_mortem_text(const View& view, const LastEvents& last,
                             const std::vector<shm::HistorySample>& history) {
  std::string out = header_section(view);
  for (const std::string& section :
       {death_section(view), devices_section(view), workers_section(view), jobs_in_flight(view),
        partitions_section(view), memory_section(view), allocations_section(view),
        queues_section(view), failures_section(view), errors_section(view),
        history_section(view, history), events_text(view, last)}) {
    if (!section.empty()) out += "\n" + section;
  }
  return out;
}

boost::json::object post_mortem_json(const shm::Observation& observation, const LastEvents& last,
                                     const std::vector<shm::HistorySample>& history) {
  namespace json = boost::json;
  const shm::Snapshot& snapshot = *observation.snapshot;
  json::object out = shm::to_json(observation);
  const shm::Instant last_beat{snapshot.heartbeat_monotonic_ns};
  json::object end;
  end["last_heartbeat_time"] = nullptr;
  end["last_heartbeat_age_seconds"] = nullptr;
  if (last_beat.is_set()) {
    end["last_heartbeat_time"] = shm::rfc3339_ms(snapshot.unix_ns_of(last_beat));
    end["last_heartbeat_age_seconds"] = static_cast<double>(snapshot.heartbeat_age_ns) / 1e9;
  }
  end["signal"] = snapshot.last_signal == 0 ? json::value(nullptr) : snapshot.last_signal;
  const bool has_exited = snapshot.life == shm::EngineLife::kClosed;
  end["exit_code"] = has_exited ? json::value(snapshot.exit_code) : json::value(nullptr);
  end["jobs_in_flight"] = unfinished_jobs(snapshot);
  end["events_problem"] = last.problem.empty()
                              ? json::value(nullptr)
                              : json::value(printable(last.problem, Charset::kUtf8));
  out["post_mortem"] = std::move(end);
  json::array events;
  for (const shm::Event& event : last.events) events.push_back(shm::event_to_json(event, snapshot));
  out["events"] = std::move(events);
  json::array samples;
  for (const shm::HistorySample& sample : history) {
    samples.push_back(
        shm::fields_to_json(shm::kHistoryFields, std::as_bytes(std::span(&sample, 1)), snapshot));
  }
  out["history"] = std::move(samples);
  return out;
}

}  // namespace vitrine::tools
