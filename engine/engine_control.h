// SPDX-License-Identifier: Apache-2.0
// EngineControl: what an operator changes of an engine that runs: its circuits, their keys, and the
// settings that are read anew each time.
//
// Threads: any; one order at a time. Files are read without the state mutex.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/circuit_changes.h"
#include "engine/configuration.h"
#include "engine/state.h"
#include "shm/records.h"

namespace vitrine::engine {

// One circuit, or one that is retired and has not left yet.
struct CircuitStatus {
  shm::AllocationRecord srs;
  CircuitConfiguration configuration;
  std::string cause;            // in full
  std::uint64_t key_bytes = 0;  // of SRS and PCE in memory
  std::uint32_t jobs = 0;       // not final
  bool is_retired = false;
  bool is_wanted = false;  // to be loaded as soon as there is room
};

struct CircuitAnswer {
  enum class Kind {
    kAccepted,
    kNothingToDo,  // it is so already
    kUnknown,
    kImpossible,  // the key cannot be loaded; `text` says why
    kInUse,
    kDraining
  };
  Kind kind = Kind::kAccepted;
  std::string text;
};

class EngineControl {
 public:
  explicit EngineControl(EngineState& state) : state_(state) {}

  // Takes the circuits and the live settings of `next`, and shows `settings`. kRefused, and nothing
  // has changed, while the engine drains or when the status plane has no room for the circuits.
  [[nodiscard]] Result<CircuitChanges> take(const Configuration& next,
                                            const std::vector<SettingInEffect>& settings);

  // Asks for the key of a circuit, whose file is looked at again if it was refused before.
  [[nodiscard]] CircuitAnswer preload(std::string_view id);
  // Drops the key of a circuit that nobody uses.
  [[nodiscard]] CircuitAnswer evict(std::string_view id);

  // In the order of the configuration; retired ones last.
  [[nodiscard]] std::vector<CircuitStatus> circuits();
  // Nothing when none of that id is configured.
  [[nodiscard]] std::optional<CircuitStatus> circuit(std::string_view id);

  [[nodiscard]] bool is_draining();
  void log(std::string_view what, std::string detail, JournalLevel level);

 private:
  EngineState& state_;
  std::mutex mutex_;  // of the order that is carried out; taken before the state's
};

}  // namespace vitrine::engine
