// SPDX-License-Identifier: Apache-2.0
#include "exporters/bounded_label.h"

#include "exporters/metric_family.h"

namespace vitrine::exporters {

std::string BoundedLabel::value_of(std::string_view raw) {
  constexpr const char* kOther = "other";
  std::string value = repaired_text(raw);
  if (value.empty()) value = "unknown";
  if (value == kOther || values_.contains(value)) return value;
  if (values_.size() < values_max_) {
    values_.insert(value);
    return value;
  }
  folded_.insert(std::move(value));
  return kOther;
}

}  // namespace vitrine::exporters
