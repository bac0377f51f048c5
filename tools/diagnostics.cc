// SPDX-License-Identifier: Apache-2.0
#include "tools/diagnostics.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cassert>
#include <string>

#include "tools/output.h"
#include "tools/styled_text.h"

namespace vitrine::tools {
namespace {

constexpr std::array<std::string_view, 6> kLevelWords = {"trace", "debug", "info",
                                                         "warn",  "error", "off"};

}  // namespace

LogLevel log_level_of(std::string_view word) {
  const auto found = std::find(kLevelWords.begin(), kLevelWords.end(), word);
  assert(found != kLevelWords.end());
  return static_cast<LogLevel>(found - kLevelWords.begin());
}

void Diagnostics::line(LogLevel level, std::string_view text) const {
  if (level < level_) return;
  const std::string safe = printable(text, Charset::kUtf8);
  std::string out = "vitrine: " + safe;
  if (format_ == LogFormat::kJson) {
    const std::string_view word = kLevelWords[static_cast<std::size_t>(level)];
    out = boost::json::serialize(
        boost::json::object{{"level", word}, {"program", "vitrine"}, {"message", safe}});
  }
  // Nothing is left to tell when standard error itself is gone.
  static_cast<void>(Output(STDERR_FILENO).write(out + "\n"));
}

}  // namespace vitrine::tools
