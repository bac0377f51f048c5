// SPDX-License-Identifier: Apache-2.0
// Why a job failed, in one line: class, stage, partition, device, and the engine's words.
#pragma once

#include <string>

#include "tools/view.h"

namespace vitrine::tools {

// Empty when nothing failed. A job may be refused without a fault of anybody: then there is only
// the reason.
inline std::string job_failure_text(const View& view, const shm::JobRecord& job) {
  std::string text;
  if (job.failure_class != shm::FailureClass::kNone) text = shm::word(job.failure_class);
  if (job.failure_stage != shm::PartitionStage::kUnknown) {
    text += " while " + std::string(shm::word(job.failure_stage));
  }
  if (job.failure_partition.is_set()) text += ", partition " + view.number(job.failure_partition);
  if (job.failure_device.is_set()) text += ", device " + view.number(job.failure_device);
  if (job.failure.view().empty()) return text;
  return (text.empty() ? text : text + ": ") + view.text(job.failure.view());
}

}  // namespace vitrine::tools
