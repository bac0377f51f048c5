// SPDX-License-Identifier: Apache-2.0
#include "engine/backend_choice.h"

#include <catch2/catch.hpp>

namespace vitrine::engine {
namespace {

TEST_CASE("a host without a GPU is not degraded unless a GPU was asked for") {
  for (const auto requested : {shm::Backend::kAuto, shm::Backend::kCpu}) {
    const BackendChoice choice = choose_backend(requested, HostGpu::kAbsent);
    CHECK(choice.effective == shm::Backend::kCpu);
    CHECK(choice.requested == requested);
    CHECK(choice.fallback.empty());
  }
  CHECK_FALSE(choose_backend(shm::Backend::kCuda, HostGpu::kAbsent).fallback.empty());
}

TEST_CASE("a GPU that is there and not used is a fallback, unless the CPU was asked for") {
  CHECK_FALSE(choose_backend(shm::Backend::kAuto, HostGpu::kPresent).fallback.empty());
  CHECK(choose_backend(shm::Backend::kCpu, HostGpu::kPresent).fallback.empty());
}

TEST_CASE("the reason why there is no GPU says which part is missing") {
  CHECK(why_no_gpu(HostGpu::kAbsent) != why_no_gpu(HostGpu::kPresent));
}

}  // namespace
}  // namespace vitrine::engine
