// SPDX-License-Identifier: Apache-2.0
#include "engine/proving_key_cache.h"

#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <utility>

namespace vitrine::engine {

using shm::AllocationState;

namespace {

// Of a key that was refused: a file that cannot be opened is not there, whatever is in it.
AllocationState refused_state(const CircuitConfiguration& configuration) {
  const bool is_there = ::access(configuration.zkey.c_str(), R_OK) == 0;
  return is_there ? AllocationState::kCorrupt : AllocationState::kAbsent;
}

bool is_droppable(const Circuit& circuit) {
  return circuit.presence() == KeyPresence::kLeaving && circuit.references == 0 &&
         circuit.key != nullptr;
}

}  // namespace

shm::Instant Circuit::idle_since() const { return {std::max(srs.state_since().ns, last_used.ns)}; }

KeyPresence Circuit::presence() const {
  if (srs.is(AllocationState::kReady) && pce.is(AllocationState::kReady)) {
    return KeyPresence::kReady;
  }
  if (srs.is(AllocationState::kEvicting)) return KeyPresence::kLeaving;
  return srs.is(AllocationState::kLoading) ? KeyPresence::kLoading : KeyPresence::kAbsent;
}

KeyUse::KeyUse(Circuit& circuit, shm::Instant now) : circuit_(&circuit) {
  assert(circuit.presence() == KeyPresence::kReady);
  ++circuit.references;
  circuit.last_used = now;
}

KeyUse::KeyUse(KeyUse&& other) noexcept : circuit_(std::exchange(other.circuit_, nullptr)) {}

KeyUse& KeyUse::operator=(KeyUse&& other) noexcept {
  if (this != &other) {
    release();
    circuit_ = std::exchange(other.circuit_, nullptr);
  }
  return *this;
}

void KeyUse::end(shm::Instant now) {
  if (circuit_ != nullptr) circuit_->last_used = now;
  release();
}

void KeyUse::release() {
  if (circuit_ == nullptr) return;
  assert(circuit_->references > 0);
  --circuit_->references;
  circuit_ = nullptr;
}

ProvingKeyCache::ProvingKeyCache(const std::vector<CircuitConfiguration>& circuits,
                                 unsigned threads) {
  for (const CircuitConfiguration& configuration : circuits) {
    Circuit& circuit = circuits_.emplace_back();
    circuit.configuration = configuration;
    circuit.row = static_cast<std::uint32_t>(circuits_.size() - 1);
    const auto shape = check_proving_key_header(
        configuration.zkey, configuration.insecure ? KeyTrust::kInsecure : KeyTrust::kContributed);
    if (shape) {
      circuit.shape = *shape;
      circuit.working = working_bytes(*shape, threads);
    } else {
      circuit.srs.settle(refused_state(configuration), {});
      circuit.pce.settle(refused_state(configuration), {});
      circuit.cause = shape.error().text;
    }
  }
}

Circuit* ProvingKeyCache::find(std::string_view id) {
  for (Circuit& circuit : circuits_) {
    if (circuit.configuration.id == id) return &circuit;
  }
  return nullptr;
}

bool ProvingKeyCache::begin_load(Circuit& circuit, MemoryBudget& budget, shm::Instant now) {
  assert(circuit.presence() == KeyPresence::kAbsent && circuit.shape);
  if (circuit.key_bytes() > budget.available_bytes()) return false;
  circuit.srs.begin_load(*budget.try_reserve(MemoryConsumer::kSrs, circuit.shape->points_bytes),
                         now);
  circuit.pce.begin_load(
      *budget.try_reserve(MemoryConsumer::kPce, circuit.shape->constraints_bytes), now);
  circuit.cause.clear();
  circuit.is_wanted = false;
  to_load_.push_back(circuit.row);
  ++loads_begun_;
  return true;
}

void ProvingKeyCache::finish_load(Circuit& circuit, std::shared_ptr<const ProvingKey> key,
                                  shm::Instant now) {
  circuit.key = std::move(key);
  circuit.load_ns = now.ns - circuit.srs.state_since().ns;
  circuit.pce.finish_load(now);
  circuit.srs.finish_load(now);
  --loads_begun_;
}

void ProvingKeyCache::fail_load(Circuit& circuit, const Error& error, shm::Instant now) {
  const bool is_refused = error.error_class == ErrorClass::kBadInput;
  circuit.cause = is_refused ? error.text : std::string();
  const AllocationState state =
      is_refused ? refused_state(circuit.configuration) : AllocationState::kAbsent;
  circuit.pce.fail_load(state, now);
  circuit.srs.fail_load(state, now);
  --loads_begun_;
}

void ProvingKeyCache::begin_eviction(Circuit& circuit, shm::Instant now) {
  if (circuit.presence() != KeyPresence::kReady) return;
  circuit.pce.begin_eviction(now);
  circuit.srs.begin_eviction(now);
}

void ProvingKeyCache::doubt(Circuit& circuit, shm::Instant now) {
  if (circuit.presence() == KeyPresence::kReady) circuit.is_wanted = circuit.is_kept;
  begin_eviction(circuit, now);
}

bool ProvingKeyCache::has_eviction() const { return std::ranges::any_of(circuits_, is_droppable); }

ProvingKeyCache::Dropped ProvingKeyCache::take_eviction() {
  const auto at = std::ranges::find_if(circuits_, is_droppable);
  if (at == circuits_.end()) return {};
  return {&*at, std::move(at->key)};
}

void ProvingKeyCache::finish_eviction(Circuit& circuit, shm::Instant now) {
  circuit.pce.finish_eviction(now);
  circuit.srs.finish_eviction(now);
}

Circuit* ProvingKeyCache::next_load() {
  if (to_load_.empty()) return nullptr;
  Circuit& circuit = circuits_[to_load_.front()];
  to_load_.erase(to_load_.begin());
  return &circuit;
}

}  // namespace vitrine::engine
