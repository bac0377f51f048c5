// SPDX-License-Identifier: Apache-2.0
// KeyVerification: reads a circuit's key file anew and checks all of it, beside the one in use.
//
// Threads: the calling one, and one for the digest; one verification at a time.
// Cost: a few MiB of memory that no budget knows of, and one CPU for as long as it takes.
// Why: an operator wants to know of a file that went bad before the engine has to read it.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "engine/configuration.h"
#include "engine/error.h"

namespace vitrine::engine {

class KeyVerification {
 public:
  // Longest that one may take.
  static constexpr std::uint64_t kLimitNs = 3'600'000'000'000;

  // The SHA-256 of the file. Errors: kBadInput and kOutOfMemory as a load; kRefused while another
  // key is verified; kCancelled when `is_unwanted` says so; kTimeout after the limit.
  [[nodiscard]] Result<std::string> perform(const CircuitConfiguration& circuit,
                                            const std::function<bool()>& is_unwanted);

 private:
  std::atomic<bool> is_busy_{false};
};

}  // namespace vitrine::engine
