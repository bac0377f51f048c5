// SPDX-License-Identifier: Apache-2.0
// A label with a bound on its values: those beyond it become one, `other`, and are counted.
//
// Why      whoever submits jobs chooses names of circuits and kinds; every new value of a label is
//          another series that a monitoring system keeps for ever.
// Threads  one at a time.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

namespace vitrine::exporters {

class BoundedLabel {
 public:
  explicit BoundedLabel(std::size_t values_max) : values_max_(values_max) {}

  // The value as it is shown: repaired text, `unknown` for none, `other` once there are
  // `values_max` different ones.
  std::string value_of(std::string_view raw);

  // Different values that are shown as `other`.
  std::size_t folded() const { return folded_.size(); }

 private:
  const std::size_t values_max_;
  std::set<std::string> values_;
  std::set<std::string> folded_;
};

}  // namespace vitrine::exporters
