// SPDX-License-Identifier: Apache-2.0
// Finds the socket of the engine that is to get work, also while that engine is still starting.
//
// Why   a script starts an engine and gives it work in its next line. Before the socket is there,
//       and while the segment is still a former engine's, that is no reason to give up.
#pragma once

#include <cstdint>
#include <filesystem>

#include "tools/command.h"

namespace vitrine::tools {

inline constexpr std::uint64_t kEngineAppearsNs = 5'000'000'000;

// Where the engine of the instance listens: as its segment says while it lives, else the default
// place, for an engine that has no shared memory. Returns at once when something answers there,
// else looks again for as long as `patience_ns`.
// Errors: kNoEngine when the segment says that its engine is gone or takes no work, or when a
// segment that was named cannot be read.
Result<std::filesystem::path> engine_socket(const CommonFlags& flags,
                                            std::uint64_t patience_ns = kEngineAppearsNs);

}  // namespace vitrine::tools
