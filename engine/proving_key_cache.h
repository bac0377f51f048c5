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
//   retired: taken out of the configuration, or replaced by one with another key
//   (circuit_changes.h). Nobody finds it any more; jobs that had begun with it end with it, then it
//   is removed
//
// Threads: the engine's state mutex is held around every call. Loading itself is done by key
// loaders (key_loader.h) and freeing by the key evictor (key_evictor.h), outside of it.
#pragma once

#include <boost/range/adaptor/indirected.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/circuit_examination.h"
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

// Jobs keep theirs, also after it has been removed.
struct Circuit : std::enable_shared_from_this<Circuit> {
  CircuitConfiguration configuration;
  std::string shown_name;      // its id, or one that no circuit has once it is retired
  std::uint32_t row = 0;       // of the status plane, in pairs
  std::uint32_t place = 0;     // among the circuits
  std::uint32_t kind_row = 0;  // row of its proof kind's counters

  FileStamp file;                 // of the key that is loaded, or was last looked at
  std::optional<KeyShape> shape;  // absent when the key's header could not be read
  WorkingBytes working;

  KeyAllocation srs, pce;
  std::string cause;       // why it is corrupt, or absent though it was asked for
  std::string fault;       // why the engine is degraded for its sake (circuit_fault.h)
  bool is_kept = false;    // resident: never evicted, and others must fit beside it
  bool is_wanted = false;  // to be loaded though no job asks for it
  bool is_retired = false;
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
  using Circuits = std::vector<std::shared_ptr<Circuit>>;

 public:
  // Reads the keys' headers. A key that cannot be read leaves its circuit without a shape, with
  // the cause; other circuits go on. `threads` is the size of the pool the stages run with.
  ProvingKeyCache(const std::vector<CircuitConfiguration>& circuits, unsigned threads);

  // In the order of the configuration; retired ones last.
  [[nodiscard]] boost::indirected_range<Circuits> circuits() {
    return boost::adaptors::indirect(circuits_);
  }
  [[nodiscard]] boost::indirected_range<const Circuits> circuits() const {
    return boost::adaptors::indirect(circuits_);
  }
  // Null when none is configured.
  [[nodiscard]] Circuit* find(std::string_view id) const;

  // Not yet one of the circuits.
  [[nodiscard]] std::shared_ptr<Circuit> make(const ExaminedCircuit& examined,
                                              shm::Instant now) const;
  // Requires: has_row().
  void add(std::shared_ptr<Circuit> circuit);
  [[nodiscard]] bool has_row() const { return circuits_.size() < kCircuitRowsMax; }
  void retire(Circuit& circuit);
  // Requires: it is retired, holds no key and nobody uses it.
  void remove(Circuit& circuit);
  // Puts those that are configured into this order. Requires: `ids` are all of them.
  void arrange(const std::vector<std::string>& ids);

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
  [[nodiscard]] std::uint32_t free_row() const;
  void renumber();

  unsigned threads_;
  Circuits circuits_;
  std::vector<Circuit*> to_load_;  // oldest first
  std::uint32_t loads_begun_ = 0;
};

}  // namespace vitrine::engine
