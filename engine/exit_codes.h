// SPDX-License-Identifier: Apache-2.0
// The exit codes of the engine's programs, which scripts rely on.
#pragma once

namespace vitrine::engine {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitInUse = 3;
inline constexpr int kExitNoGpu = 4;
inline constexpr int kExitCancelled = 6;
inline constexpr int kExitTimeout = 7;
inline constexpr int kExitRefused = 8;
inline constexpr int kExitLost = 9;

}  // namespace vitrine::engine
