// SPDX-License-Identifier: Apache-2.0
// Makes a witness from an input, with the command that the circuit's configuration names.
//
// Threads: any; the calling thread waits for the command.
// Why: docs/decisions/0016-witness-commands.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/error.h"
#include "engine/work_folder.h"

namespace vitrine::engine {

class Spool;

// What is needed of the circuit and of the partition.
struct WitnessOrder {
  std::vector<std::string> command;
  std::uint64_t timeout_ns = 0;
  std::uint64_t witness_values = 0;  // of the circuit
  std::filesystem::path input;
  std::uint64_t input_bytes_max = 0;
  std::string label;  // of the input, in errors
};

// A file in a folder of its own; both go when it does.
struct MadeWitness {
  std::filesystem::path path;
  std::unique_ptr<WorkFolder> folder;
};

// Errors: kBadInput when the command fails or leaves no file; kTimeout; kCancelled; kInternal when
// it cannot be started or was killed by somebody else; kOutOfMemory when there is no room for the
// files, also for the witness that the command was to leave.
[[nodiscard]] Result<MadeWitness> make_witness(const WitnessOrder& order, Spool& spool,
                                               const std::atomic<bool>& cancelled);

}  // namespace vitrine::engine
