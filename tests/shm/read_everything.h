// SPDX-License-Identifier: Apache-2.0
// Everything that a reader does with a segment, and what must hold whatever its bytes are.
//
// Why   the fuzz target and the tests of damaged segments hold a reader to the same promises.
#pragma once

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <optional>
#include <string>

#include "shm/catalogue.h"
#include "shm/heartbeat_watch.h"
#include "shm/invariants.h"
#include "shm/segment_reader.h"
#include "shm/snapshot_json.h"
#include "shm/verdict.h"

namespace vitrine::shm {

// The first promise that is broken; empty when all are kept.
using Fault = std::optional<std::string>;

inline Fault fault_of_rows(const Snapshot& snapshot, const SegmentIdentity& identity) {
  Fault fault;
  std::size_t table = 0;
  for_each_table([&]<class Record>() {
    const std::string name(TableOf<Record>::kName);
    std::uint64_t least_row = 0;
    for (const Record& record : snapshot.rows<Record>()) {
      if (record.identity.row < least_row) fault = name + ": rows are out of order";
      least_row = std::uint64_t{record.identity.row} + 1;
      if (snapshot.consistent && record.identity.stamp > snapshot.commit) {
        fault = name + ": a row is newer than the snapshot";
      }
    }
    if (least_row > identity.tables[table++].rows) fault = name + ": a row beyond its table";
  });
  return fault;
}

// Follows the ring from `sequence` to its end, in batches.
inline Fault fault_of_events(SegmentReader& reader, std::uint64_t sequence) {
  constexpr std::size_t kBatch = 5;
  const std::uint64_t commit = reader.commit();
  for (std::uint32_t left = reader.identity().event_capacity + 1; left > 0; --left) {
    const auto batch = reader.events_after(sequence, kBatch);
    if (!batch) {
      return batch.error().kind == ErrorKind::kCorrupt ? Fault() : Fault("events: another error");
    }
    if (batch->events.size() > kBatch) return "events: more than were asked for";
    std::uint64_t expected = sequence + batch->missed;
    for (const Event& event : batch->events) {
      if (event.sequence != ++expected) return "events: a gap that is not told";
      if (event.stamp > commit) return "events: one of a transaction that is not complete";
    }
    if (batch->last_sequence != expected) return "events: the next one to ask for is wrong";
    if (batch->events.empty()) return {};
    sequence = batch->last_sequence;
  }
  return "events: no end";
}

inline Fault fault_of_verdict(const SegmentIdentity& identity, const Snapshot& snapshot,
                              const Liveness& liveness) {
  const HeartbeatWatch heartbeat;
  const Verdict verdict = judge({identity, snapshot, liveness, heartbeat});
  if (verdict.reason.empty()) return "verdict: no evidence";
  if (is_alive(verdict.word) && !liveness.lock_held) return "verdict: alive without a lock";
  return {};
}

inline Fault fault_of_json(const Observation& observation, const Event& event) {
  namespace json = boost::json;
  json::object document = to_json(observation);
  document["event"] = event_to_json(event, *observation.snapshot);
  boost::system::error_code problem;
  const json::value again = json::parse(json::serialize(document), problem);
  if (problem) return "JSON: " + problem.message();
  if (again.as_object().size() != document.size()) return "JSON: not what was written";
  return {};
}

inline Fault fault_of_invariants(const Snapshot& snapshot) {
  const auto violations = check_invariants(snapshot, nullptr);
  if (!violations.empty() && !snapshot.consistent) {
    return "invariants: of a snapshot that is not of one moment";
  }
  // A state that is the same before and after breaks no rule of growth.
  if (check_invariants(snapshot, &snapshot).size() != violations.size()) {
    return "invariants: something fell between a moment and itself";
  }
  (void)check_quiet(snapshot);
  return {};
}

// The snapshot, and everything that is made of it but documents.
inline Fault fault_of_state(SegmentReader& reader, Observation& observation) {
  observation.identity = reader.identity();
  observation.liveness = reader.liveness();
  Snapshot& snapshot = observation.snapshot.emplace();
  if (!reader.snapshot(snapshot)) return "snapshot: an error";
  if (snapshot.commit != reader.commit()) return "snapshot: of another commit";
  if (snapshot.tries > 64) return "snapshot: too many tries";
  if (auto fault = fault_of_rows(snapshot, observation.identity)) return fault;
  for (const std::uint64_t sequence :
       {std::uint64_t{0}, snapshot.last_event_sequence - 1, ~std::uint64_t{0}}) {
    if (auto fault = fault_of_events(reader, sequence)) return fault;
  }
  if (auto fault = fault_of_invariants(snapshot)) return fault;
  for (const bool is_held : {false, true}) {
    const Liveness liveness{.lock_held = is_held, .name_linked = is_held, .is_file = !is_held};
    auto fault = fault_of_verdict(observation.identity, snapshot, liveness);
    if (fault) return fault;
  }
  return {};
}

inline Fault fault_of_reading(SegmentReader& reader) {
  Observation observation;
  if (auto fault = fault_of_state(reader, observation)) return fault;
  const auto batch = reader.events_after(0, 1);
  const bool has_event = batch && !batch->events.empty();
  return fault_of_json(observation, has_event ? batch->events.front() : Event{});
}

}  // namespace vitrine::shm
