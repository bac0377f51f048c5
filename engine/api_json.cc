// SPDX-License-Identifier: Apache-2.0
#include "engine/api_json.h"

#include "shm/clock.h"
#include "shm/snapshot_json.h"

namespace vitrine::engine {
namespace {

// Where a record lies in the segment means nothing here.
template <class Record>
boost::json::object without_place(const Record& record) {
  shm::Snapshot now;
  now.heartbeat_monotonic_ns = now.taken_monotonic_ns = shm::monotonic_ns();
  now.unix_minus_monotonic_ns =
      shm::unix_ns() - static_cast<std::int64_t>(now.heartbeat_monotonic_ns);
  boost::json::object object = shm::record_to_json(record, now);
  for (const char* name : {"stamp", "row", "generation"}) object.stable_erase(name);
  return object;
}

}  // namespace

boost::json::object job_to_json(const shm::JobRecord& record) { return without_place(record); }

boost::json::object job_to_json(const JobStatus& status) {
  boost::json::object object = without_place(status.record);
  if (!status.failure.empty()) object["failure"] = status.failure;
  return object;
}

boost::json::object device_to_json(const DeviceStatus& status) {
  boost::json::object object{{"device", status.number}};
  for (const auto& member : without_place(status.record)) {
    object[member.key()] = member.value();
  }
  object["takes_work"] = status.takes_work;
  if (status.memory_bytes) object["memory_bytes"] = *status.memory_bytes;
  if (!status.fault.empty()) object["fault"] = status.fault;
  return object;
}

boost::json::object circuit_to_json(const CircuitStatus& status) {
  boost::json::object object = without_place(status.srs);
  object.stable_erase("kind");  // each circuit is shown once, by its SRS
  object["zkey"] = status.configuration.zkey.string();
  object["digest"] = status.configuration.digest;
  object["priority"] = shm::word(status.configuration.priority);
  object["key_bytes"] = status.key_bytes;
  object["jobs"] = status.jobs;
  object["wanted"] = status.is_wanted;
  object["retired"] = status.is_retired;
  object["cause"] = status.cause;
  return object;
}

}  // namespace vitrine::engine
