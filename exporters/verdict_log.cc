// SPDX-License-Identifier: Apache-2.0
#include "exporters/verdict_log.h"

#include "shm/printable_text.h"

namespace vitrine::exporters {

void VerdictLog::note(const shm::Observation& observation) {
  const std::string word(shm::word(observation.verdict.word));
  if (word == word_ && observation.attachments == attachments_) return;
  word_ = word;
  attachments_ = observation.attachments;
  log_->info("engine {}: {}", word, shm::printable_text(observation.verdict.reason));
}

}  // namespace vitrine::exporters
