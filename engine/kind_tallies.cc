// SPDX-License-Identifier: Apache-2.0
#include "engine/kind_tallies.h"

#include <cstddef>
#include <memory>

namespace vitrine::engine {
namespace {

constexpr std::size_t kKindsNamed = 8;
constexpr const char* kOtherKinds = "other";

}  // namespace

std::uint32_t kind_row(EngineModel& model, const std::string& kind) {
  auto& tallies = model.tallies;
  const std::string& name = tallies.size() >= kKindsNamed ? kOtherKinds : kind;
  for (std::uint32_t row = 0; row < tallies.size(); ++row) {
    if (tallies[row]->kind == kind || tallies[row]->kind == name) return row;
  }
  tallies.push_back(std::make_unique<KindTally>());
  tallies.back()->kind = name;
  return static_cast<std::uint32_t>(tallies.size() - 1);
}

}  // namespace vitrine::engine
