// SPDX-License-Identifier: Apache-2.0
#include "engine/circuit_examination.h"

#include <unistd.h>

namespace vitrine::engine {

ExaminedCircuit examine_circuit(const CircuitConfiguration& configuration) {
  ExaminedCircuit examined;
  examined.configuration = configuration;
  examined.file = FileStamp::of(configuration.zkey);
  const auto shape = check_proving_key_header(
      configuration.zkey, configuration.insecure ? KeyTrust::kInsecure : KeyTrust::kContributed);
  if (shape) {
    examined.shape = *shape;
  } else {
    examined.cause = shape.error().text;
    examined.state = refused_state(configuration);
  }
  return examined;
}

shm::AllocationState refused_state(const CircuitConfiguration& configuration) {
  const bool is_there = ::access(configuration.zkey.c_str(), R_OK) == 0;
  return is_there ? shm::AllocationState::kCorrupt : shm::AllocationState::kAbsent;
}

}  // namespace vitrine::engine
