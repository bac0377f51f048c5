// SPDX-License-Identifier: Apache-2.0
#include "engine/request_index.h"

namespace vitrine::engine {

const StoredRequest* RequestIndex::find(const std::string& request) const {
  const auto at = entries_.find(request);
  return at == entries_.end() ? nullptr : &at->second;
}

StoredRequest* RequestIndex::entry_of(const std::string& request, JobId job) {
  const auto at = entries_.find(request);
  return at == entries_.end() || at->second.job != job ? nullptr : &at->second;
}

void RequestIndex::begin(const StoredRequest& entry) {
  if (!entry.request.empty()) entries_.insert_or_assign(entry.request, entry);
}

void RequestIndex::end(const std::string& request, JobId job, shm::JobState state) {
  if (StoredRequest* entry = entry_of(request, job)) entry->state = state;
}

void RequestIndex::take_back(const std::string& request, JobId job) {
  StoredRequest* entry = entry_of(request, job);
  if (entry == nullptr) return;
  if (entry->attempt == 1) {
    entries_.erase(request);
    return;
  }
  // The attempt before it had ended without a result, else this one would not have been begun.
  --entry->attempt;
  entry->state = shm::JobState::kFailed;
}

void RequestIndex::forget(const std::string& request, JobId job) {
  if (entry_of(request, job) != nullptr) entries_.erase(request);
}

}  // namespace vitrine::engine
