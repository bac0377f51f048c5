// SPDX-License-Identifier: Apache-2.0
// Jobs, devices and circuits as the API shows them: the members of their records, with the names
// and rules of the catalogue.
#pragma once

#include <boost/json/object.hpp>

#include "engine/engine.h"
#include "engine/engine_control.h"

namespace vitrine::engine {

[[nodiscard]] boost::json::object job_to_json(const shm::JobRecord& record);
// With the failure in full.
[[nodiscard]] boost::json::object job_to_json(const JobStatus& status);
// With its number, its memory, and why it is not up in full.
[[nodiscard]] boost::json::object device_to_json(const DeviceStatus& status);
// With its digest, its priority, and why its key is not there in full.
[[nodiscard]] boost::json::object circuit_to_json(const CircuitStatus& status);

}  // namespace vitrine::engine
