// SPDX-License-Identifier: Apache-2.0
// What probes and monitors ask of an engine: one answer, as an exit code and as one line.
//
// Why   a monitor knows four states and a probe two, and both count other codes as failures of
//       their own; so `vitrine check` has codes beside those of the status commands.
// Source  for the line with performance data: the guidelines of the Nagios plugins.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>

#include "shm/attachment.h"
#include "tools/exit_code.h"

namespace vitrine::tools {

// What is asked: how it is, whether it must be restarted, whether it may be given work.
enum class HealthQuestion : std::uint8_t { kState, kLive, kReady };

// Live: the process is there and not hung. Ready: it takes work, so it is neither starting nor
// draining; one that is degraded does.
bool is_live(const shm::Observation& observation);
bool is_ready(const shm::Observation& observation);

// For kState 0 well or starting, 1 degraded or draining, 2 hung, dead or exited, 3 not known. For
// the others 0 yes, 1 no.
ExitCode health_code(const shm::Observation& observation, HealthQuestion question);

// One line each, or one document; with the line break.
std::string health_plain(const shm::Observation& observation, HealthQuestion question);
std::string health_nagios(const shm::Observation& observation, HealthQuestion question);
boost::json::object health_json(const shm::Observation& observation, HealthQuestion question);

}  // namespace vitrine::tools
