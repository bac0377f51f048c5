// SPDX-License-Identifier: Apache-2.0
#include "engine/key_loader.h"

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/circuit_changes.h"
#include "engine/circuit_fault.h"
#include "engine/exception_guard.h"
#include "engine/job_lifecycle.h"
#include "engine/state.h"
#include "engine/thread_supervision.h"

namespace vitrine::engine {
namespace {

// What one thread loads now, as it was configured when it began.
struct LoadInHand {
  Circuit* circuit = nullptr;  // null: it waits
  CircuitConfiguration configuration;
  FileStamp file;
  std::optional<KeyShape> shape;
};

// False: the engine stops.
bool take_load(EngineState& state, ThreadRow row, LoadInHand& in_hand) {
  return state.change_when(
      [](const EngineModel& model) { return model.stopping || model.keys.has_loads(); },
      [&in_hand, row](Change& change) {
        if (change.model().stopping) return false;
        in_hand.circuit = change.model().keys.next_load();
        in_hand.configuration = in_hand.circuit->configuration;
        in_hand.shape = in_hand.circuit->shape;
        take_step(change, row, "loading key", nullptr);
        return true;
      });
}

// Whether the load is of no use any more: a key may take minutes.
bool is_in_vain(const EngineModel& model, const Circuit& circuit) {
  return model.stopping || (circuit.is_retired && !has_jobs(model, circuit));
}

// Shows how far a load has come, ten times a second, and ends one that is in vain.
class LoadWatch {
 public:
  LoadWatch(EngineState& state, Circuit& circuit) : state_(state), circuit_(circuit) {}

  void progressed(const LoadedBytes& loaded) {
    const auto now = std::chrono::steady_clock::now();
    const bool has_news = loaded.has_constraints && !has_constraints_;
    if (now < next_look_ && !has_news) return;
    has_constraints_ = loaded.has_constraints;
    next_look_ = now + kInterval;
    const bool is_stopping = state_.change([&](Change& change) {
      circuit_.srs.progress(loaded.points, loaded.points_total);
      circuit_.pce.progress(loaded.constraints, loaded.constraints_total);
      if (has_news) circuit_.pce.finish_load(change.now());
      change.publish().key_progressed(circuit_);
      return is_in_vain(change.model(), circuit_);
    });
    if (!is_stopping) return;
    has_stopped_ = true;
    throw std::runtime_error("nobody needs the key");  // guard_all makes it a value
  }

  [[nodiscard]] bool has_stopped() const { return has_stopped_; }

 private:
  static constexpr std::chrono::milliseconds kInterval{100};

  EngineState& state_;
  Circuit& circuit_;
  std::chrono::steady_clock::time_point next_look_{};
  bool has_constraints_ = false;
  bool has_stopped_ = false;
};

// Partitions that had the key before it was dropped have ended: what is left waits for it.
void fail_waiting_jobs(Change& change, const Circuit& circuit, const Error& error) {
  const std::vector<Job*> active = change.model().jobs.active();
  for (Job* job : active) {
    if (job->circuit.get() != &circuit || job->pending() == 0) continue;
    stop_job(change, *job,
             {error.error_class, error.text, shm::PartitionStage::kPending, job->to_start(), {}});
  }
}

// The budget counts on what the header said when the circuit was configured.
Result<std::shared_ptr<const ProvingKey>> load_same_key(const LoadInHand& in_hand,
                                                        const ProvingKeyOptions& options,
                                                        const KeyReader& read,
                                                        kernels::ThreadPool& threads) {
  auto loaded = read(in_hand.configuration.zkey, options, threads);
  if (loaded && (*loaded)->shape != *in_hand.shape) {
    return bad_input(in_hand.configuration.zkey.string() +
                     ": its size or curve changed since it was configured; reload the engine");
  }
  return loaded;
}

// Jobs that began with a key that was replaced must not end with another.
bool has_lost_file(const Circuit& circuit, const FileStamp& read) {
  return circuit.is_retired && !read.has_bytes_of(circuit.file);
}

Error lost_file(const Circuit& circuit) {
  return bad_input(circuit.configuration.zkey.string() +
                   ": it was replaced after its jobs had begun, and is not in memory any more");
}

// The key is the operator's: whatever is wrong with it, no client gave it.
Error not_of_a_client(Error error) {
  if (error.error_class == ErrorClass::kBadInput) error.error_class = ErrorClass::kInternal;
  return error;
}

void tell_failed_load(Change& change, const Circuit& circuit, const Error& error) {
  if (error.error_class == ErrorClass::kLost) {
    return change.log("key load stopped", circuit.shown_name);
  }
  change.log("key refused", circuit.configuration.id + ": " + error.text, JournalLevel::kError);
  change.note_error({failure_class_of(error.error_class), error.text, 0, {}, {}});
}

void end_load(Change& change, const LoadInHand& in_hand,
              Result<std::shared_ptr<const ProvingKey>> loaded) {
  Circuit& circuit = *in_hand.circuit;
  if (loaded && has_lost_file(circuit, in_hand.file)) loaded = lost_file(circuit);
  if (loaded) {
    circuit.file = in_hand.file;
    change.model().keys.finish_load(circuit, std::move(*loaded), change.now());
    change.log("key ready", circuit.configuration.id);
  } else {
    change.model().keys.fail_load(circuit, loaded.error(), change.now());
    const Error error = not_of_a_client(loaded.error());
    tell_failed_load(change, circuit, error);
    fail_waiting_jobs(change, circuit, error);
  }
  judge_circuit(change, circuit);
  change.publish().key_settled(circuit);
}

void load(EngineState& state, ThreadRow row, LoadInHand& in_hand, const KeyReader& read,
          kernels::ThreadPool& threads) {
  LoadWatch watch(state, *in_hand.circuit);
  ProvingKeyOptions options;
  options.insecure = in_hand.configuration.insecure;
  options.digest = in_hand.configuration.digest;
  in_hand.file = FileStamp::of(in_hand.configuration.zkey);
  options.progress = [&watch](const LoadedBytes& loaded) { watch.progressed(loaded); };
  std::uint64_t exceptions = 0;
  auto loaded = guard_all("key load", exceptions,
                          [&] { return load_same_key(in_hand, options, read, threads); });
  if (watch.has_stopped()) {
    loaded = Error{ErrorClass::kLost, "the load was stopped before the key was there"};
  }
  state.change([&](Change& change) {
    if (exceptions > 0 && !watch.has_stopped()) count_restart(change, row, loaded.error());
    end_load(change, in_hand, std::move(loaded));
    in_hand = {};
    wait_for_work(change, row);
  });
}

}  // namespace

void run_key_loader(EngineState& state, ThreadRow row, const KeyReader& read,
                    kernels::ThreadPool& threads) {
  LoadInHand in_hand;
  supervise(state, row,
            {[&] {
               while (take_load(state, row, in_hand)) load(state, row, in_hand, read, threads);
             },
             [&](Change& change, const Error& error) {
               if (in_hand.circuit != nullptr) end_load(change, std::exchange(in_hand, {}), error);
             }});
}

}  // namespace vitrine::engine
