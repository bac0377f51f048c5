// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/damage_script.h"

#include <algorithm>
#include <cstring>

namespace vitrine::fuzz {
namespace {

struct Step {
  Damage kind;
  std::uint8_t length;
  std::uint16_t place;
  std::uint64_t value;
};

void apply(const Step& step, const std::vector<std::uint32_t>& places, std::string& bytes) {
  const std::size_t at = places[step.place % places.size()];
  switch (step.kind) {
    case Damage::kSetWord:
      return store(bytes, at, step.value);
    case Damage::kSetHalf:
      return store(bytes, at, static_cast<std::uint32_t>(step.value));
    case Damage::kAdd:
      if (at + 8 <= bytes.size()) store(bytes, at, load<std::uint64_t>(bytes, at) + step.value);
      return;
    case Damage::kAnywhere:
      return store(bytes, (step.value >> 32) % (bytes.size() + 1),
                   static_cast<std::uint32_t>(step.value));
    case Damage::kTruncate:
      return bytes.resize(step.value % (bytes.size() + 1));
    case Damage::kFill:
      for (std::size_t i = 0; i < step.length; ++i) {
        store(bytes, at + i, static_cast<std::uint8_t>(step.value));
      }
      return;
    case Damage::kCopy: {
      const std::size_t from = places[step.value % places.size()];
      if (from + 8 <= bytes.size()) store(bytes, at, load<std::uint64_t>(bytes, from));
      return;
    }
    case Damage::kKinds:
      return;
  }
}

}  // namespace

std::string damaged(const std::vector<Base>& bases, std::span<const std::uint8_t> script) {
  if (script.empty()) return {};
  const std::size_t number = script[0] & ~kStateOnly;
  std::span<const std::uint8_t> steps = script.subspan(1);
  if (number >= bases.size()) return {steps.begin(), steps.end()};
  const Base& base = bases[number];
  std::string bytes = base.bytes;
  for (std::size_t done = 0; steps.size() >= kStepBytes && done < kStepsMax; ++done) {
    Step step;
    step.kind = static_cast<Damage>(steps[0] % static_cast<std::uint8_t>(Damage::kKinds));
    step.length = steps[1];
    std::memcpy(&step.place, &steps[2], sizeof(step.place));
    std::memcpy(&step.value, &steps[4], sizeof(step.value));
    apply(step, base.places, bytes);
    steps = steps.subspan(kStepBytes);
  }
  return bytes;
}

}  // namespace vitrine::fuzz
