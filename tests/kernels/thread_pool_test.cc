// SPDX-License-Identifier: Apache-2.0
#include "kernels/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <latch>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using vitrine::kernels::ThreadPool;

TEST_CASE("a loop visits every index exactly once") {
  for (unsigned threads : {1u, 2u, 3u, 8u}) {
    ThreadPool pool(threads);
    REQUIRE(pool.size() == threads);
    for (std::size_t n : {0u, 1u, 2u, 3u, 15u, 16u, 17u, 1000u, 4099u}) {
      for (std::size_t min_chunk : {0u, 1u, 7u, 5000u}) {
        std::vector<std::atomic<int>> visits(n);
        pool.parallel_for(n, min_chunk, [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) ++visits[i];
        });
        REQUIRE(std::all_of(visits.begin(), visits.end(), [](const auto& v) { return v == 1; }));
      }
    }
  }
}

TEST_CASE("no range but the last is shorter than the smallest chunk") {
  ThreadPool pool(3);
  std::atomic<int> short_ranges = 0;
  pool.parallel_for(1000, 64, [&](std::size_t begin, std::size_t end) {
    if (end - begin < 64 && end != 1000) ++short_ranges;
  });
  REQUIRE(short_ranges == 0);
}

TEST_CASE("the caller and the pool's threads work at the same time") {
  ThreadPool pool(3);
  std::latch all_inside(3);
  pool.parallel_for(3, 1, [&](std::size_t, std::size_t) { all_inside.arrive_and_wait(); });
  SUCCEED("three bodies were inside together");
}

TEST_CASE("loops inside loops end and add up") {
  for (unsigned threads : {1u, 2u, 3u}) {
    ThreadPool pool(threads);
    std::atomic<std::size_t> sum = 0;
    pool.parallel_for(20, 1, [&](std::size_t outer, std::size_t outer_end) {
      for (; outer < outer_end; ++outer) {
        pool.parallel_for(50, 1, [&](std::size_t begin, std::size_t end) {
          pool.parallel_for(end - begin, 1, [&](std::size_t b, std::size_t e) { sum += e - b; });
        });
      }
    });
    REQUIRE(sum == 20 * 50);
  }
}

TEST_CASE("several threads may share one pool") {
  ThreadPool pool(2);
  std::atomic<std::size_t> sum = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 100; ++round) {
        pool.parallel_for(64, 1, [&](std::size_t begin, std::size_t end) { sum += end - begin; });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  REQUIRE(sum == 4u * 100u * 64u);
}

TEST_CASE("an exception of a body reaches the caller and the pool stays usable") {
  for (unsigned threads : {1u, 2u, 3u}) {
    ThreadPool pool(threads);
    for (int round = 0; round < 20; ++round) {
      const auto loop = [&] {
        pool.parallel_for(100, 1, [](std::size_t begin, std::size_t end) {
          if (begin <= 50 && 50 < end) throw std::runtime_error("index 50");
        });
      };
      REQUIRE_THROWS_WITH(loop(), "index 50");
    }
    std::atomic<std::size_t> sum = 0;
    pool.parallel_for(100, 1, [&](std::size_t begin, std::size_t end) { sum += end - begin; });
    REQUIRE(sum == 100);
  }
}

}  // namespace
