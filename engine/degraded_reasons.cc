// SPDX-License-Identifier: Apache-2.0
#include "engine/degraded_reasons.h"

#include <algorithm>

#include "engine/short_text.h"
#include "shm/records.h"

namespace vitrine::engine {
namespace {

constexpr std::size_t kBriefBytes = sizeof(shm::EngineRecord::degraded_reason);

}  // namespace

bool DegradedReasons::add(const DegradedReason& reason) {
  const bool is_known = std::any_of(reasons_.begin(), reasons_.end(),
                                    [&](const auto& known) { return known.text == reason.text; });
  if (is_known) return false;
  reasons_.push_back(reason);
  join();
  return true;
}

bool DegradedReasons::remove(const std::string& text) {
  if (std::erase_if(reasons_, [&](const auto& known) { return known.text == text; }) == 0) {
    return false;
  }
  join();
  return true;
}

void DegradedReasons::join() {
  text_.clear();
  brief_.clear();
  for (const DegradedReason& reason : reasons_) {
    if (!text_.empty()) text_ += "; ";
    text_ += reason.text;
  }
  for (std::size_t shown = reasons_.size(); shown > 0; --shown) {
    brief_ = brief_of(shown);
    if (brief_.size() <= kBriefBytes) return;
  }
}

// The last resort is a part of the first reason: how many there are is never cut off.
std::string DegradedReasons::brief_of(std::size_t shown) const {
  std::string joined;
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) joined += "; ";
    joined += reasons_[i].brief;
  }
  const std::size_t left = reasons_.size() - shown;
  const std::string more = left == 0 ? "" : "; and " + std::to_string(left) + " more";
  if (shown == 1 && joined.size() + more.size() > kBriefBytes) {
    joined = whole_characters(joined, kBriefBytes - more.size() - kEllipsis.size());
    joined += kEllipsis;
  }
  return joined + more;
}

}  // namespace vitrine::engine
