// SPDX-License-Identifier: Apache-2.0
#include "exporters/response_cache.h"

#include <utility>

namespace vitrine::exporters {

SharedResponse ResponseCache::get(const Moment& moment, const std::string& format,
                                  const Build& build) {
  const std::lock_guard lock(mutex_);
  if (moment.number != moment_number_) {
    answers_.clear();
    moment_number_ = moment.number;
  }
  const auto found = answers_.find(format);
  if (found != answers_.end()) return found->second;
  auto answer = std::make_shared<const Response>(build(moment.observation));
  if (answers_.size() < kMaxAnswers) answers_.emplace(format, answer);
  return answer;
}

}  // namespace vitrine::exporters
