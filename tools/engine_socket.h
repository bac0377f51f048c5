// SPDX-License-Identifier: Apache-2.0
// Finds the engine that is to get work, also while that engine is still starting.
//
// Why   a script starts an engine and gives it work in its next line. Before the socket is there,
//       and while the segment is still a former engine's, that is no reason to give up.
#pragma once

#include <cstdint>

#include "tools/command.h"
#include "tools/engine_client.h"

namespace vitrine::tools {

inline constexpr std::uint64_t kEngineAppearsNs = 5'000'000'000;

// The engine of the instance: at the socket that its segment names while it lives, else at the
// default place, for an engine that has no shared memory. Returns at once when something answers
// there, else looks again for as long as `patience_ns`.
// Errors: kNoEngine when the segment says that its engine is gone or takes no work, or when a
// segment that was named cannot be read.
Result<EngineClient> find_engine(const CommonFlags& flags,
                                 std::uint64_t patience_ns = kEngineAppearsNs);

}  // namespace vitrine::tools
