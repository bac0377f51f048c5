// SPDX-License-Identifier: Apache-2.0
// Which devices are trusted with work, by what they have done.
//
//   up           takes work
//   degraded     takes work; kErrorsToDegrade device errors in a row, until it makes a proof
//   quarantined  kInvalidProofsToQuarantine invalid proofs; takes no work until it is released
//   lost         kErrorsToLose device errors in a row, or a kernel step beyond step_limit on a
//                device that is not the CPU; takes no work until it is released
//
// Threads  inside a change.
// Why      docs/decisions/0014. While any device is not up the engine is degraded and says which
// and
//          why; when none takes work the jobs wait and the engine says so, or falls back to the
//          CPU that stands by.
#pragma once

#include <cstdint>

#include "engine/state.h"

namespace vitrine::engine {

inline constexpr std::uint32_t kInvalidProofsToQuarantine = 3;
inline constexpr std::uint32_t kErrorsToDegrade = 2;
inline constexpr std::uint32_t kErrorsToLose = 5;

// A proof that verifies.
void judge_proof(Change& change, Device& device);
void judge_failure(Change& change, Device& device, const Partition& partition, const Error& error);

// Looks for kernels that have run longer than their step may. What they had in hand begins again on
// another device or fails; what their worker holds stays out of the budget until it answers.
void lose_hung_devices(Change& change);
// That worker has answered.
void take_late_answer(Change& change, Worker& worker);

enum class DeviceRelease { kDone, kUnknown, kStuck };
// Takes a device back, whatever it was out for; an operator's decision.
[[nodiscard]] DeviceRelease release_device(Change& change, std::uint32_t number);

}  // namespace vitrine::engine
