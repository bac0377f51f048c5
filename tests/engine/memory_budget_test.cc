// SPDX-License-Identifier: Apache-2.0
#include "engine/memory_budget.h"

#include <catch2/catch.hpp>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace vitrine::engine {
namespace {

std::uint64_t sum_of_consumers(const MemoryBudget& budget) {
  return budget.reserved_bytes(MemoryConsumer::kSrs) + budget.reserved_bytes(MemoryConsumer::kPce) +
         budget.reserved_bytes(MemoryConsumer::kWorking);
}

TEST_CASE("a reservation that goes away gives its bytes back") {
  MemoryBudget budget(100);
  {
    const auto reserved = budget.try_reserve(MemoryConsumer::kSrs, 60);
    REQUIRE(reserved);
    CHECK(budget.reserved_bytes() == 60);
    CHECK(budget.available_bytes() == 40);
  }
  CHECK(budget.reserved_bytes() == 0);
  CHECK(budget.peak_bytes() == 60);
}

TEST_CASE("more than is available is not reserved, not even in part") {
  MemoryBudget budget(100);
  const auto held = budget.try_reserve(MemoryConsumer::kWorking, 70);
  CHECK_FALSE(budget.try_reserve(MemoryConsumer::kWorking, 31));
  CHECK(budget.reserved_bytes() == 70);
  CHECK(budget.try_reserve(MemoryConsumer::kWorking, 30));
}

TEST_CASE("a reservation can be given back in parts") {
  MemoryBudget budget(100);
  auto reserved = budget.try_reserve(MemoryConsumer::kWorking, 80);
  reserved->give_back(50);
  CHECK(reserved->bytes() == 30);
  CHECK(budget.reserved_bytes(MemoryConsumer::kWorking) == 30);
  reserved->give_back_all();
  CHECK(budget.reserved_bytes() == 0);
  reserved.reset();
  CHECK(budget.reserved_bytes() == 0);
}

TEST_CASE("a moved reservation is given back once") {
  MemoryBudget budget(100);
  auto first = budget.try_reserve(MemoryConsumer::kPce, 10);
  auto second = budget.try_reserve(MemoryConsumer::kSrs, 20);
  *first = std::move(*second);
  CHECK(budget.reserved_bytes(MemoryConsumer::kPce) == 0);
  CHECK(budget.reserved_bytes(MemoryConsumer::kSrs) == 20);
  first.reset();
  second.reset();
  CHECK(budget.reserved_bytes() == 0);
}

TEST_CASE("totals and consumers agree at every moment under random use by many threads", "[E4]") {
  const auto seed = std::random_device{}();
  INFO("seed " << seed);
  MemoryBudget budget(1'000'000);
  std::mutex state_mutex;
  std::uint64_t disagreements = 0;
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < 8; ++number) {
    threads.emplace_back([&, number] {
      std::mt19937 random(seed + number);
      std::vector<Reservation> held;
      for (int step = 0; step < 125'000; ++step) {
        const std::lock_guard lock(state_mutex);
        const auto consumer = static_cast<MemoryConsumer>(random() % kMemoryConsumers);
        if (held.size() < 16 && random() % 2 == 0) {
          if (auto reserved = budget.try_reserve(consumer, random() % 50'000)) {
            held.push_back(std::move(*reserved));
          }
        } else if (!held.empty() && random() % 2 == 0) {
          held.back().give_back(random() % (held.back().bytes() + 1));
        } else if (!held.empty()) {
          held.erase(held.begin() + static_cast<std::ptrdiff_t>(random() % held.size()));
        }
        disagreements += budget.reserved_bytes() > budget.total_bytes();
        disagreements += sum_of_consumers(budget) != budget.reserved_bytes();
      }
      const std::lock_guard lock(state_mutex);
      held.clear();
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(disagreements == 0);
  CHECK(budget.reserved_bytes() == 0);
}

}  // namespace
}  // namespace vitrine::engine
