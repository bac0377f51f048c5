// SPDX-License-Identifier: Apache-2.0
// Why an engine did not start.
#pragma once

#include <boost/system/result.hpp>
#include <stdexcept>
#include <string>

#include "shm/error.h"

namespace vitrine::engine {

struct StartFailure {
  enum class Kind { kRuntime, kUsage, kInUse, kNoGpu } kind;
  std::string text;
};

template <class T>
using StartResult = boost::system::result<T, StartFailure>;

[[nodiscard]] StartFailure start_failure_of(const shm::Error& error);

// See exit_codes.h.
[[nodiscard]] int exit_code_of(StartFailure::Kind kind);

// Required by boost::system::result for value() on a failed start.
[[noreturn]] inline void throw_exception_from_error(const StartFailure& failure,
                                                    const boost::source_location&) {
  throw std::runtime_error(failure.text);
}

}  // namespace vitrine::engine
