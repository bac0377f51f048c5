// SPDX-License-Identifier: Apache-2.0
#include "engine/memory_budget.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace vitrine::engine {

Reservation::Reservation(Reservation&& other) noexcept
    : budget_(std::exchange(other.budget_, nullptr)),
      consumer_(other.consumer_),
      bytes_(std::exchange(other.bytes_, 0)) {}

Reservation& Reservation::operator=(Reservation&& other) noexcept {
  if (this != &other) {
    give_back_all();
    budget_ = std::exchange(other.budget_, nullptr);
    consumer_ = other.consumer_;
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

Reservation::~Reservation() { give_back_all(); }

void Reservation::give_back(std::uint64_t bytes) {
  assert(bytes <= bytes_ && "more given back than reserved");
  if (bytes == 0) return;
  bytes_ -= bytes;
  budget_->refund(consumer_, bytes);
}

std::optional<Reservation> MemoryBudget::try_reserve(MemoryConsumer consumer, std::uint64_t bytes) {
  if (bytes > available_bytes()) return std::nullopt;
  reserved_bytes_ += bytes;
  by_consumer_[static_cast<std::size_t>(consumer)] += bytes;
  peak_bytes_ = std::max(peak_bytes_, reserved_bytes_);
  return Reservation(*this, consumer, bytes);
}

void MemoryBudget::withhold(std::uint64_t bytes) {
  assert(bytes <= available_bytes());
  total_bytes_ -= bytes;
}

void MemoryBudget::refund(MemoryConsumer consumer, std::uint64_t bytes) {
  std::uint64_t& consumed = by_consumer_[static_cast<std::size_t>(consumer)];
  assert(bytes <= consumed && bytes <= reserved_bytes_);
  consumed -= bytes;
  reserved_bytes_ -= bytes;
}

}  // namespace vitrine::engine
