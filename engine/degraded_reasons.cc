// SPDX-License-Identifier: Apache-2.0
#include "engine/degraded_reasons.h"

#include <algorithm>

namespace vitrine::engine {

bool DegradedReasons::add(const std::string& reason) {
  if (std::find(reasons_.begin(), reasons_.end(), reason) != reasons_.end()) return false;
  reasons_.push_back(reason);
  join();
  return true;
}

bool DegradedReasons::remove(const std::string& reason) {
  if (std::erase(reasons_, reason) == 0) return false;
  join();
  return true;
}

void DegradedReasons::join() {
  text_.clear();
  for (const std::string& reason : reasons_) {
    if (!text_.empty()) text_ += "; ";
    text_ += reason;
  }
}

}  // namespace vitrine::engine
