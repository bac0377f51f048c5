// SPDX-License-Identifier: Apache-2.0
#include "engine/proving_key_cache.h"

#include <unistd.h>

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

}  // namespace

KeyUse::KeyUse(Circuit& circuit) : circuit_(&circuit) {
  assert(circuit.state == AllocationState::kReady);
  ++circuit.references;
}

KeyUse::KeyUse(KeyUse&& other) noexcept : circuit_(std::exchange(other.circuit_, nullptr)) {}

KeyUse& KeyUse::operator=(KeyUse&& other) noexcept {
  if (this != &other) {
    end();
    circuit_ = std::exchange(other.circuit_, nullptr);
  }
  return *this;
}

void KeyUse::end() {
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
      circuit.state = refused_state(configuration);
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

void ProvingKeyCache::count_use(Circuit& circuit) {
  if (circuit.presence() == KeyPresence::kAbsent) {
    ++circuit.misses;
  } else {
    ++circuit.hits;
  }
}

bool ProvingKeyCache::begin_load(Circuit& circuit, MemoryBudget& budget, shm::Instant now) {
  assert(circuit.presence() == KeyPresence::kAbsent && circuit.shape);
  if (circuit.key_bytes() > budget.available_bytes()) return false;
  circuit.srs = *budget.try_reserve(MemoryConsumer::kSrs, circuit.shape->points_bytes);
  circuit.pce = *budget.try_reserve(MemoryConsumer::kPce, circuit.shape->constraints_bytes);
  circuit.loaded_bytes = 0;
  circuit.cause.clear();
  ++circuit.loads;
  enter(circuit, AllocationState::kLoading, now);
  to_load_.push_back(circuit.row);
  return true;
}

void ProvingKeyCache::finish_load(Circuit& circuit, std::shared_ptr<const ProvingKey> key,
                                  shm::Instant now) {
  circuit.key = std::move(key);
  circuit.loaded_bytes = circuit.file_bytes;
  enter(circuit, AllocationState::kReady, now);
}

void ProvingKeyCache::fail_load(Circuit& circuit, const Error& error, shm::Instant now) {
  circuit.srs.give_back_all();
  circuit.pce.give_back_all();
  circuit.loaded_bytes = 0;
  const bool is_refused = error.error_class == ErrorClass::kBadInput;
  circuit.cause = is_refused ? error.text : std::string();
  enter(circuit, is_refused ? refused_state(circuit.configuration) : AllocationState::kAbsent, now);
}

void ProvingKeyCache::doubt(Circuit& circuit, shm::Instant now) {
  if (circuit.state == AllocationState::kReady) enter(circuit, AllocationState::kEvicting, now);
}

std::shared_ptr<const ProvingKey> ProvingKeyCache::drop_doubted(Circuit& circuit,
                                                                shm::Instant now) {
  if (circuit.state != AllocationState::kEvicting || circuit.references > 0) return nullptr;
  circuit.srs.give_back_all();
  circuit.pce.give_back_all();
  circuit.loaded_bytes = 0;
  ++circuit.drops;
  enter(circuit, AllocationState::kAbsent, now);
  return std::move(circuit.key);
}

Circuit* ProvingKeyCache::next_load() {
  if (to_load_.empty()) return nullptr;
  Circuit& circuit = circuits_[to_load_.front()];
  to_load_.erase(to_load_.begin());
  return &circuit;
}

void ProvingKeyCache::enter(Circuit& circuit, AllocationState state, shm::Instant now) {
  circuit.state = state;
  circuit.state_since = now;
}

}  // namespace vitrine::engine
