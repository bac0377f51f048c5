// SPDX-License-Identifier: Apache-2.0
// The circuits of the engine and their proving keys: loaded on first use, once, however many jobs
// ask; counted; kept unless in doubt.
//
//   absent -> loading -> ready -> evicting -> absent
//                 |----> corrupt
//                 '----> absent
//
//   corrupt: the file was refused, `cause` says why; the next job tries again
//   absent with a `cause`: the file cannot be opened; the next job tries again
//   evicting: a proof made with the key did not verify, so the key may be damaged. No partition
//   gets it any more; when the last one that has it has ended it is dropped, and read again for the
//   next
//
// Threads: the engine's state mutex is held around every call. Loading itself is done by the key
// loader (key_loader.h), outside of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/configuration.h"
#include "engine/groth16.h"
#include "engine/memory_budget.h"
#include "engine/proving_key.h"
#include "engine/scheduler.h"
#include "shm/field.h"
#include "shm/words.h"

namespace vitrine::engine {

struct Circuit {
  CircuitConfiguration configuration;
  std::uint32_t row = 0;       // index among the circuits
  std::uint32_t kind_row = 0;  // row of its proof kind's counters

  std::optional<KeyShape> shape;  // absent when the key's header could not be read
  WorkingBytes working;

  shm::AllocationState state = shm::AllocationState::kAbsent;
  std::string cause;  // why it is corrupt, or absent though it was asked for
  std::string fault;  // why the engine is degraded for its sake (circuit_fault.h)
  std::shared_ptr<const ProvingKey> key;
  Reservation srs, pce;
  std::uint64_t loaded_bytes = 0;  // of the file
  std::uint64_t file_bytes = 0;
  std::uint32_t references = 0;  // partitions that use the key
  shm::Instant state_since, last_used;
  std::uint64_t hits = 0, misses = 0, loads = 0, drops = 0;

  [[nodiscard]] std::uint64_t key_bytes() const {
    return shape ? shape->points_bytes + shape->constraints_bytes : 0;
  }
  [[nodiscard]] KeyPresence presence() const {
    if (state == shm::AllocationState::kReady) return KeyPresence::kReady;
    const bool is_coming =
        state == shm::AllocationState::kLoading || state == shm::AllocationState::kEvicting;
    return is_coming ? KeyPresence::kLoading : KeyPresence::kAbsent;
  }
};

// A partition's hold on a ready key.
class KeyUse {
 public:
  KeyUse() = default;
  // Requires: the key is ready.
  explicit KeyUse(Circuit& circuit);
  KeyUse(KeyUse&& other) noexcept;
  KeyUse& operator=(KeyUse&& other) noexcept;
  ~KeyUse() { end(); }

  void end();

 private:
  Circuit* circuit_ = nullptr;
};

class ProvingKeyCache {
 public:
  // Reads the keys' headers. A key that cannot be read leaves its circuit without a shape, with
  // the cause; other circuits go on. `threads` is the size of the pool the stages run with.
  ProvingKeyCache(const std::vector<CircuitConfiguration>& circuits, unsigned threads);

  [[nodiscard]] std::vector<Circuit>& circuits() { return circuits_; }
  [[nodiscard]] const std::vector<Circuit>& circuits() const { return circuits_; }
  [[nodiscard]] Circuit* find(std::string_view id);

  // Counts a job's use: a hit when the key is there or coming.
  void count_use(Circuit& circuit);

  // Takes the key's bytes and asks for the load; false when the bytes are not there.
  [[nodiscard]] bool begin_load(Circuit& circuit, MemoryBudget& budget, shm::Instant now);
  void finish_load(Circuit& circuit, std::shared_ptr<const ProvingKey> key, shm::Instant now);
  // kBadInput makes the circuit corrupt if the file is there; anything else leaves it absent.
  void fail_load(Circuit& circuit, const Error& error, shm::Instant now);

  // The key is to be dropped. No effect unless it is ready.
  void doubt(Circuit& circuit, shm::Instant now);
  // Drops a doubted key that no partition uses, and gives its bytes back: the answer is to be
  // freed. Null when there is nothing to drop.
  [[nodiscard]] std::shared_ptr<const ProvingKey> drop_doubted(Circuit& circuit, shm::Instant now);

  // The next load to do; removed from the line.
  [[nodiscard]] Circuit* next_load();
  [[nodiscard]] bool has_loads() const { return !to_load_.empty(); }

 private:
  void enter(Circuit& circuit, shm::AllocationState state, shm::Instant now);

  std::vector<Circuit> circuits_;
  std::vector<std::uint32_t> to_load_;  // oldest first
};

}  // namespace vitrine::engine
