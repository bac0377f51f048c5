// SPDX-License-Identifier: Apache-2.0
// The byte budget of the engine: what is reserved, by whom, and what is left.
//
// Threads: the engine's state mutex is held around every call, the destructor of a Reservation
// included, so that total, consumers and owners change in one transaction (invariant I4).
// Why: reservations are made before memory is touched; what was reserved is what is given back,
// never a new measurement. Who waits, and in which order, is the scheduler's business.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace vitrine::engine {

enum class MemoryConsumer : std::uint32_t { kSrs, kPce, kWorking };
inline constexpr std::size_t kMemoryConsumers = 3;

class MemoryBudget;

// Bytes of the budget; given back when it goes away.
class Reservation {
 public:
  Reservation() = default;
  Reservation(Reservation&& other) noexcept;
  Reservation& operator=(Reservation&& other) noexcept;
  ~Reservation();

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  // Gives part back, at most bytes().
  void give_back(std::uint64_t bytes);
  void give_back_all() { give_back(bytes_); }

 private:
  friend class MemoryBudget;
  Reservation(MemoryBudget& budget, MemoryConsumer consumer, std::uint64_t bytes)
      : budget_(&budget), consumer_(consumer), bytes_(bytes) {}

  MemoryBudget* budget_ = nullptr;
  MemoryConsumer consumer_ = MemoryConsumer::kWorking;
  std::uint64_t bytes_ = 0;
};

class MemoryBudget {
 public:
  explicit MemoryBudget(std::uint64_t total_bytes) : total_bytes_(total_bytes) {}
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  // Nothing when fewer than `bytes` are available now.
  [[nodiscard]] std::optional<Reservation> try_reserve(MemoryConsumer consumer,
                                                       std::uint64_t bytes);

  // Bytes that nobody has reserved but something holds: out of the total until restored. Requires
  // that they are available.
  void withhold(std::uint64_t bytes);
  void restore(std::uint64_t bytes) { total_bytes_ += bytes; }

  [[nodiscard]] std::uint64_t total_bytes() const { return total_bytes_; }
  [[nodiscard]] std::uint64_t reserved_bytes() const { return reserved_bytes_; }
  [[nodiscard]] std::uint64_t reserved_bytes(MemoryConsumer consumer) const {
    return by_consumer_[static_cast<std::size_t>(consumer)];
  }
  [[nodiscard]] std::uint64_t available_bytes() const { return total_bytes_ - reserved_bytes_; }
  [[nodiscard]] std::uint64_t peak_bytes() const { return peak_bytes_; }

 private:
  friend class Reservation;
  void refund(MemoryConsumer consumer, std::uint64_t bytes);

  std::uint64_t total_bytes_;
  std::uint64_t reserved_bytes_ = 0;
  std::uint64_t peak_bytes_ = 0;
  std::array<std::uint64_t, kMemoryConsumers> by_consumer_{};
};

}  // namespace vitrine::engine
