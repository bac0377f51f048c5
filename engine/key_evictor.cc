// SPDX-License-Identifier: Apache-2.0
#include "engine/key_evictor.h"

#include <malloc.h>

#include <utility>

#include "engine/thread_supervision.h"

namespace vitrine::engine {
namespace {

// The circuit whose key the thread drops now; null when it waits.
using DropInHand = Circuit*;

ProvingKeyCache::Dropped take_eviction(EngineState& state, ThreadRow row, DropInHand& in_hand) {
  return state.change_when(
      [](const EngineModel& model) { return model.stopping || model.keys.has_eviction(); },
      [&in_hand, row](Change& change) -> ProvingKeyCache::Dropped {
        if (change.model().stopping) return {};
        ProvingKeyCache::Dropped dropped = change.model().keys.take_eviction();
        in_hand = dropped.circuit;
        take_step(change, row, "dropping key", nullptr);
        return dropped;
      });
}

void end_eviction(Change& change, Circuit& circuit) {
  change.model().keys.finish_eviction(circuit, change.now());
  change.publish().key_dropped(circuit);
  change.log("key dropped", circuit.configuration.id);
}

void drop(EngineState& state, ThreadRow row, DropInHand& in_hand,
          ProvingKeyCache::Dropped dropped) {
  dropped.key.reset();
  ::malloc_trim(0);  // arrays below the allocator's threshold for mmap stay in its heaps otherwise
  state.change([&](Change& change) {
    end_eviction(change, *dropped.circuit);
    in_hand = nullptr;
    wait_for_work(change, row);
  });
}

}  // namespace

void run_key_evictor(EngineState& state, ThreadRow row) {
  DropInHand in_hand = nullptr;
  supervise(state, row,
            {[&] {
               while (true) {
                 ProvingKeyCache::Dropped dropped = take_eviction(state, row, in_hand);
                 if (dropped.circuit == nullptr) return;
                 drop(state, row, in_hand, std::move(dropped));
               }
             },
             [&](Change& change, const Error&) {
               if (in_hand != nullptr) end_eviction(change, *std::exchange(in_hand, nullptr));
             }});
}

}  // namespace vitrine::engine
