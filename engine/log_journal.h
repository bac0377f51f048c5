// SPDX-License-Identifier: Apache-2.0
// The journal as log lines on standard error: text or JSON, one line an entry.
//
// Units: times in UTC, with milliseconds.
#pragma once

#include <memory>
#include <string>

#include "engine/journal.h"

namespace vitrine::engine {

class LogJournal final : public Journal {
 public:
  // `level` and `format` are words that the settings allow.
  LogJournal(const std::string& level, const std::string& format);
  ~LogJournal() override;
  void write(const JournalEntry& entry) override;

 private:
  struct Logger;
  std::unique_ptr<Logger> logger_;
};

}  // namespace vitrine::engine
