// SPDX-License-Identifier: Apache-2.0
// A worker: takes synthesized partitions to its device, checks the proofs, and assembles the job's
// result when it ended the last partition.
//
// Threads: run() is the thread's body; it ends when the model says stopping. Kernels of a device
// run for one of its workers at a time; the others meanwhile check and write proofs.
//
// Why: whatever goes wrong with a partition is the partition's failure; the worker goes on.
#pragma once

#include <cstdint>

#include "engine/state.h"
#include "kernels/thread_pool.h"

namespace vitrine::engine {

// The same thread as the model's two tables know it.
struct WorkerThread {
  std::uint32_t worker;  // index in EngineModel::workers
  ThreadRow row;
};

void run_worker(EngineState& state, WorkerThread thread, kernels::ThreadPool& threads);

}  // namespace vitrine::engine
