// SPDX-License-Identifier: Apache-2.0
// A log line whenever the engine becomes another one or another verdict holds.
#pragma once

#include <spdlog/logger.h>

#include <memory>
#include <string>

#include "shm/observer.h"

namespace vitrine::exporters {

class VerdictLog {
 public:
  explicit VerdictLog(std::shared_ptr<spdlog::logger> log) : log_(std::move(log)) {}

  void note(const shm::Observation& observation);

 private:
  std::shared_ptr<spdlog::logger> log_;
  std::string word_;
  std::uint64_t attachments_ = 0;
};

}  // namespace vitrine::exporters
