// SPDX-License-Identifier: Apache-2.0
#include "engine/proving_key_cache.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace vitrine::engine {

using shm::AllocationState;

namespace {

bool is_droppable(const std::shared_ptr<Circuit>& circuit) {
  return circuit->presence() == KeyPresence::kLeaving && circuit->references == 0 &&
         circuit->key != nullptr;
}

// Ids have no '~', so no circuit is called so.
std::string retired_name(const Circuit& circuit) {
  const std::string number = "~" + std::to_string(circuit.row);
  return circuit.configuration.id.substr(0, kCircuitIdBytesMax - number.size()) + number;
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
                                 unsigned threads)
    : threads_(threads) {
  for (const CircuitConfiguration& configuration : circuits) {
    add(make(examine_circuit(configuration), {}));
  }
}

Circuit* ProvingKeyCache::find(std::string_view id) const {
  for (const auto& circuit : circuits_) {
    if (!circuit->is_retired && circuit->configuration.id == id) return circuit.get();
  }
  return nullptr;
}

std::shared_ptr<Circuit> ProvingKeyCache::make(const ExaminedCircuit& examined,
                                               shm::Instant now) const {
  auto circuit = std::make_shared<Circuit>();
  circuit->configuration = examined.configuration;
  circuit->shown_name = examined.configuration.id;
  circuit->file = examined.file;
  circuit->shape = examined.shape;
  if (examined.shape) circuit->working = working_bytes(*examined.shape, threads_);
  circuit->cause = examined.cause;
  circuit->srs.settle(examined.state, now);
  circuit->pce.settle(examined.state, now);
  return circuit;
}

void ProvingKeyCache::add(std::shared_ptr<Circuit> circuit) {
  circuit->row = free_row();
  circuits_.push_back(std::move(circuit));
  renumber();
}

void ProvingKeyCache::retire(Circuit& circuit) {
  circuit.is_retired = true;
  circuit.is_kept = circuit.is_wanted = false;
  circuit.shown_name = retired_name(circuit);
}

void ProvingKeyCache::remove(Circuit& circuit) {
  assert(circuit.is_retired && circuit.references == 0);
  assert(circuit.presence() == KeyPresence::kAbsent);
  std::erase_if(circuits_, [&](const auto& known) { return known.get() == &circuit; });
  renumber();
}

void ProvingKeyCache::arrange(const std::vector<std::string>& ids) {
  const auto rank = [&ids](const std::shared_ptr<Circuit>& circuit) {
    if (circuit->is_retired) return ids.end() - ids.begin();
    return std::ranges::find(ids, circuit->configuration.id) - ids.begin();
  };
  std::stable_sort(circuits_.begin(), circuits_.end(),
                   [&](const auto& one, const auto& other) { return rank(one) < rank(other); });
  renumber();
}

std::uint32_t ProvingKeyCache::free_row() const {
  std::uint32_t row = 0;
  while (std::ranges::any_of(circuits_, [row](const auto& known) { return known->row == row; })) {
    ++row;
  }
  return row;
}

void ProvingKeyCache::renumber() {
  for (std::uint32_t place = 0; place < circuits_.size(); ++place) circuits_[place]->place = place;
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
  to_load_.push_back(&circuit);
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
  return {at->get(), std::move((*at)->key)};
}

void ProvingKeyCache::finish_eviction(Circuit& circuit, shm::Instant now) {
  circuit.pce.finish_eviction(now);
  circuit.srs.finish_eviction(now);
}

Circuit* ProvingKeyCache::next_load() {
  if (to_load_.empty()) return nullptr;
  Circuit* circuit = to_load_.front();
  to_load_.erase(to_load_.begin());
  return circuit;
}

}  // namespace vitrine::engine
