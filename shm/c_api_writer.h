// SPDX-License-Identifier: Apache-2.0
// What is behind a vitrine_writer.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "shm/job_ledger_writer.h"
#include "shm/vitrine.h"

struct vitrine_writer {
  std::unique_ptr<vitrine::shm::JobLedger> ledger;
  bool removes_at_close = false;
  mutable std::mutex error_mutex;
  std::string error;  // of the last call that failed, one line
};

namespace vitrine::shm {

// The table, if it may have fields of an engine's own; else kNone.
SectionId table_named(std::string_view name);

}  // namespace vitrine::shm
