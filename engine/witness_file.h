// SPDX-License-Identifier: Apache-2.0
// The file a partition's witness is read or made from, and what it is called when it is talked
// about.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "engine/error.h"

namespace vitrine::engine {

// The engine's own copy of an upload: removed with its last holder, unless it is to outlive the
// engine.
class WitnessCopy {
 public:
  enum class End { kRemoved, kKept };

  virtual ~WitnessCopy() = default;
  virtual void end_as(End end) const noexcept = 0;
};

// An input is what a circuit's `witness_command` makes the witness from.
enum class WitnessKind { kWitness, kInput };

struct WitnessFile {
  std::filesystem::path path;
  std::shared_ptr<const WitnessCopy> copy;  // null when the file is the caller's
  // The client's name of an upload, harmless; empty when it gave none.
  std::string name = {};
  std::uint64_t bytes = 0;  // of the engine's copy
  WitnessKind kind = WitnessKind::kWitness;
};

// Until the engine's copies and their names have reached the disk. Errors name no file: clients
// read them.
[[nodiscard]] Result<void> make_durable(std::span<const WitnessFile> witnesses);

// Tells the engine's copy how it is to end.
void end_as(const WitnessFile& file, WitnessCopy::End end);

// `witness 1 (mine.wtns)`, `input 1 (mine.json)`: the partition's number and what the client calls
// the file, which is never the name of the engine's copy.
[[nodiscard]] std::string witness_label(std::size_t partition, const WitnessFile& file);
// The same before there is a file; `name` is harmless, or empty when the client gave none.
[[nodiscard]] std::string witness_label(WitnessKind kind, std::size_t partition,
                                        std::string_view name);

}  // namespace vitrine::engine
