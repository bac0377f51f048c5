// SPDX-License-Identifier: Apache-2.0
// What the parts of the ledger say alike: names of items in errors, and the rules of waiting.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "shm/job_ledger_writer.h"

namespace vitrine::shm {

inline LedgerError ledger_error(LedgerCode code, std::string text) {
  return {code, std::move(text)};
}

inline std::string text_of(std::uint64_t job) { return "job " + std::to_string(job); }
inline std::string text_of(PartitionName name) {
  return "partition " + std::to_string(name.number) + " of job " + std::to_string(name.job);
}

// Begins a wait, or ends it when there is no reason.
template <class Record>
void set_wait(Record& record, const Wait& wait, Instant now) {
  record.wait_reason = wait.reason;
  record.wait_since = wait.reason == WaitReason::kNone ? Instant{} : now;
  record.wait_needs_bytes = wait.needs_bytes;
}

// What is wrong with what a caller says about a wait.
inline std::optional<LedgerError> fault_of(const Wait& wait) {
  if (wait.reason == WaitReason::kNone) {
    return ledger_error(LedgerCode::kBadArgument, "waits without a reason");
  }
  const bool is_for_memory = wait.reason == WaitReason::kMemory;
  if (is_for_memory != (wait.needs_bytes != 0)) {
    return ledger_error(LedgerCode::kBadArgument,
                        "bytes are needed when the reason is memory, only then");
  }
  if ((wait.needs_bytes | wait.available_bytes) >> 63 != 0) {
    return ledger_error(LedgerCode::kBadArgument, "waits for more bytes than there can be");
  }
  return std::nullopt;
}

}  // namespace vitrine::shm
