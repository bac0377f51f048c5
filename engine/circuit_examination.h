// SPDX-License-Identifier: Apache-2.0
// What a circuit's key says of itself before it is loaded.
//
// Threads: any, without the state mutex: the file's header is read.
#pragma once

#include <optional>
#include <string>

#include "engine/configuration.h"
#include "engine/file_stamp.h"
#include "engine/proving_key.h"
#include "shm/words.h"

namespace vitrine::engine {

struct ExaminedCircuit {
  CircuitConfiguration configuration;
  FileStamp file;                 // that was looked at, or one before it
  std::optional<KeyShape> shape;  // none when the header could not be read
  std::string cause;              // why not
  shm::AllocationState state = shm::AllocationState::kAbsent;
};

[[nodiscard]] ExaminedCircuit examine_circuit(const CircuitConfiguration& configuration);

// Of a key that was refused: a file that cannot be opened is not there, whatever is in it.
[[nodiscard]] shm::AllocationState refused_state(const CircuitConfiguration& configuration);

}  // namespace vitrine::engine
