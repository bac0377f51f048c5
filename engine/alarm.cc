// SPDX-License-Identifier: Apache-2.0
#include "engine/alarm.h"

#include "engine/thread_supervision.h"

namespace vitrine::engine {

void run_alarm(EngineState& state, ThreadRow row) {
  supervise(state, row,
            {[&] {
               while (state.await_alarm()) {
                 state.change([row](Change& change) { wait_for_work(change, row); });
               }
             },
             [](Change&, const Error&) {}});
}

}  // namespace vitrine::engine
