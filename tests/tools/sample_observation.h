// SPDX-License-Identifier: Apache-2.0
// A look at an imaginary engine with something in every table.
#pragma once

#include "shm/attachment.h"

namespace vitrine::tests {

// Engine `main`, busy, up 41m23s, last beat 2026-01-31T08:15:30Z, 50 ms before the look. Job 7
// runs with a partition each done, proving, in synthesis and pending; 8 waits; 6 has failed.
shm::Observation sample_observation();

}  // namespace vitrine::tests
