// SPDX-License-Identifier: Apache-2.0
// The circuits of the engine and their proving keys: loaded on first use, once, however many jobs
// ask; counted; kept until their bytes are wanted for others.
//
//   A key is two allocations (key_allocation.h) out of one file: they are loaded together, the
//   matrices ready before the points, and leave together (docs/decisions/0013).
//
//   corrupt: the file was refused, `cause` says why; the next job tries again
//   absent with a `cause`: the file cannot be opened; the next job tries again
//   evicting: its bytes are wanted (scheduler.h), or a proof made with it did not verify, so that
//   the key may be damaged. No partition gets it any more; when the last one that has it has ended
//   it is dropped, and read again for the next
//
// Threads: the engine's state mutex is held around every call. Loading itself is done by key
// loaders (key_loader.h) and freeing by the key evictor (key_evictor.h), outside of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/configuration.h"
#include "engine/forecast.h"
#include "engine/groth16.h"
#include "engine/key_allocation.h"
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

  KeyAllocation srs, pce;
  std::string cause;       // why it is corrupt, or absent though it was asked for
  std::string fault;       // why the engine is degraded for its sake (circuit_fault.h)
  bool is_kept = false;    // resident: never evicted, and others must fit beside it
  bool is_wanted = false;  // to be loaded though no job asks for it
  std::shared_ptr<const ProvingKey> key;
  std::uint32_t references = 0;  // partitions that use the key
  shm::Instant last_used;
  // What is to be expected of it, from what was (forecast.h).
  PartitionPace pace;
  std::uint64_t load_ns = 0;  // that its key took to load, the last time

  [[nodiscard]] std::uint64_t key_bytes() const {
    return shape ? shape->points_bytes + shape->constraints_bytes : 0;
  }
  // Since when the key has been ready and unused.
  [[nodiscard]] shm::Instant idle_since() const;
  [[nodiscard]] KeyPresence presence() const;
};

// A partition's hold on a ready key.
class KeyUse {
 public:
  KeyUse() = default;
  // Requires: the key is ready.
  KeyUse(Circuit& circuit, shm::Instant now);
  KeyUse(KeyUse&& other) noexcept;
  KeyUse& operator=(KeyUse&& other) noexcept;
  ~KeyUse() { release(); }

  void end(shm::Instant now);

 private:
  void release();

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

  // Takes the key's bytes and asks for the load; false when the bytes are not there.
  [[nodiscard]] bool begin_load(Circuit& circuit, MemoryBudget& budget, shm::Instant now);
  void finish_load(Circuit& circuit, std::shared_ptr<const ProvingKey> key, shm::Instant now);
  // kBadInput makes the circuit corrupt if the file is there; anything else leaves it absent.
  void fail_load(Circuit& circuit, const Error& error, shm::Instant now);

  // The key is to be dropped. No effect unless it is ready.
  void begin_eviction(Circuit& circuit, shm::Instant now);
  // The same for a key in doubt, which is read again at once if it is a kept one.
  void doubt(Circuit& circuit, shm::Instant now);
  [[nodiscard]] bool has_eviction() const;
  // A key to be dropped that no partition uses; null when there is none. Its bytes stay reserved
  // until finish_eviction().
  struct Dropped {
    Circuit* circuit = nullptr;
    std::shared_ptr<const ProvingKey> key;
  };
  [[nodiscard]] Dropped take_eviction();
  void finish_eviction(Circuit& circuit, shm::Instant now);

  // The next load to do; removed from the line.
  [[nodiscard]] Circuit* next_load();
  [[nodiscard]] bool has_loads() const { return !to_load_.empty(); }
  // Loads asked for and not ended.
  [[nodiscard]] std::uint32_t loads_begun() const { return loads_begun_; }

 private:
  std::vector<Circuit> circuits_;
  std::vector<std::uint32_t> to_load_;  // oldest first
  std::uint32_t loads_begun_ = 0;
};

}  // namespace vitrine::engine
