// SPDX-License-Identifier: Apache-2.0
// The journal as log lines on standard error: text or JSON, one line an entry. Of one phrase so
// many lines a second (line_limit.h); what was left out is told in a line of its own.
//
// Units: times in UTC, with milliseconds.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/journal.h"

namespace vitrine::engine {

class LogJournal final : public Journal {
 public:
  // `level` and `format` are words that the settings allow; `limit` is in lines of one phrase a
  // second, zero for none.
  LogJournal(const std::string& level, const std::string& format, std::uint32_t limit);
  ~LogJournal() override;
  void set_level(const std::string& level);
  void write(const JournalEntry& entry) override;
  // Tells what was left out until now. To be called now and then: nothing is said in silence.
  void tell_left_out();

 private:
  void tell_left_out_by(std::uint64_t now_ns);

  struct Logger;
  std::unique_ptr<Logger> logger_;
};

}  // namespace vitrine::engine
