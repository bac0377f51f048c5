// SPDX-License-Identifier: Apache-2.0
// Looks at every engine of this machine and at what it stands on, and says what is wrong.
//
// Cost   up to 6 s for an engine whose heartbeat looks as if it stood, 7 s for a silent API.
#pragma once

#include <boost/json/object.hpp>
#include <filesystem>
#include <optional>

#include "tools/doctor_checks.h"
#include "tools/styled_text.h"

namespace vitrine::tools {

// In the usual places, in those of other mount namespaces as far as we may look, and at `segment`.
Findings examine_host(const std::optional<std::filesystem::path>& segment,
                      const shm::AttachOptions& options);

// True when something is a warning or a problem.
bool has_faults(const Findings& findings);

std::string findings_text(const Findings& findings, const TextStyle& style);
boost::json::object findings_json(const Findings& findings);

}  // namespace vitrine::tools
