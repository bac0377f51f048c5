// SPDX-License-Identifier: Apache-2.0
// How libFuzzer changes a script of damage.
#include <algorithm>
#include <array>
#include <cstring>
#include <random>

#include "tests/fuzz/damage_script.h"

using vitrine::fuzz::kStepBytes;

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size)
    __attribute__((weak));

namespace {

// Numbers at which a check may be wrong by one, or a sum may wrap.
std::uint64_t edge(std::minstd_rand& random) {
  constexpr std::array<std::uint64_t, 16> kEdges = {
      0,       1,       3,          4,          8,          64,         128,        2048,
      1 << 14, 1 << 16, 0x7FFFFFFF, 0x80000000, 0xFFFFFFF8, 0xFFFFFFFF, 1ULL << 63, ~0ULL};
  const std::uint64_t value = kEdges[random() % kEdges.size()];
  switch (random() % 4) {
    case 0:
      return value + 1;
    case 1:
      return value - 1;
    default:
      return value;
  }
}

}  // namespace

// Every second time a whole step with a value at an edge, else libFuzzer's own changes.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  std::minstd_rand random(seed);
  const std::size_t steps = size == 0 ? 0 : (size - 1) / kStepBytes;
  const bool may_grow = 1 + (steps + 1) * kStepBytes <= max_size;
  if (random() % 2 == 0 || size == 0 || (steps == 0 && !may_grow)) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  const std::uint8_t base =
      random() % 8 == 0 ? static_cast<std::uint8_t>(random() % vitrine::fuzz::bases().size())
                        : data[0] & static_cast<std::uint8_t>(~vitrine::fuzz::kStateOnly);
  data[0] = base | (random() % 8 == 0 ? 0 : vitrine::fuzz::kStateOnly);
  const std::size_t step = may_grow ? random() % (steps + 1) : random() % steps;
  std::uint8_t* at = data + 1 + step * kStepBytes;
  at[0] =
      static_cast<std::uint8_t>(random() % static_cast<unsigned>(vitrine::fuzz::Damage::kKinds));
  at[1] = static_cast<std::uint8_t>(random());
  const auto place = static_cast<std::uint16_t>(random());
  const std::uint64_t value = edge(random);
  std::memcpy(at + 2, &place, sizeof(place));
  std::memcpy(at + 4, &value, sizeof(value));
  return std::max(size, 1 + (step + 1) * kStepBytes);
}
