// SPDX-License-Identifier: Apache-2.0
// The threads that load proving keys. The scheduler asks for no more loads than there are threads
// for them, so none waits behind another.
//
// Threads: run_key_loader() is a thread's body; it ends when the model says stopping.
// Why: a key takes seconds to minutes; loaded by a thread of its own, it holds up only the jobs
// that need it.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "engine/error.h"
#include "engine/proving_key.h"
#include "engine/thread_step.h"
#include "kernels/thread_pool.h"

namespace vitrine::engine {

class EngineState;

// Reads and checks a key, like load_proving_key().
using KeyReader = std::function<Result<std::shared_ptr<const ProvingKey>>(
    const std::filesystem::path&, const ProvingKeyOptions&, kernels::ThreadPool&)>;

void run_key_loader(EngineState& state, ThreadRow row, const KeyReader& read,
                    kernels::ThreadPool& threads);

}  // namespace vitrine::engine
