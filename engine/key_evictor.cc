// SPDX-License-Identifier: Apache-2.0
#include "engine/key_evictor.h"

#include <malloc.h>

#include <utility>

namespace vitrine::engine {
namespace {

ProvingKeyCache::Dropped take_eviction(EngineState& state, ThreadRow row) {
  return state.change_when(
      [](const EngineModel& model) { return model.stopping || model.keys.has_eviction(); },
      [row](Change& change) -> ProvingKeyCache::Dropped {
        if (change.model().stopping) return {};
        take_step(change, row, "dropping key", nullptr);
        return change.model().keys.take_eviction();
      });
}

void drop(EngineState& state, ThreadRow row, ProvingKeyCache::Dropped dropped) {
  dropped.key.reset();
  ::malloc_trim(0);  // arrays below the allocator's threshold for mmap stay in its heaps otherwise
  state.change([&](Change& change) {
    change.model().keys.finish_eviction(*dropped.circuit, change.now());
    change.publish().key_dropped(*dropped.circuit);
    change.log("key dropped", dropped.circuit->configuration.id);
    wait_for_work(change, row);
  });
}

}  // namespace

void run_key_evictor(EngineState& state, ThreadRow row) {
  while (true) {
    ProvingKeyCache::Dropped dropped = take_eviction(state, row);
    if (dropped.circuit == nullptr) return;
    drop(state, row, std::move(dropped));
  }
}

}  // namespace vitrine::engine
