// SPDX-License-Identifier: Apache-2.0
// How a command reports what it could not do: the exit code and one line for the person.
#pragma once

#include <boost/system/result.hpp>
#include <stdexcept>
#include <string>

#include "shm/error.h"
#include "tools/exit_code.h"

namespace vitrine::tools {

struct Error {
  // Not an aggregate: an exit code alone is no error, and results tell the two apart.
  Error() = default;
  Error(ExitCode exit_code, std::string line) : code(exit_code), text(std::move(line)) {}

  ExitCode code = ExitCode::kFailed;
  std::string text;  // one line, names the input and the rule
};

// What a segment or recording that cannot be read means to a command.
inline Error reading_error(const shm::Error& error) {
  const bool is_absent = error.kind == shm::ErrorKind::kAbsent;
  return {is_absent ? ExitCode::kNoInstance : ExitCode::kUnreadable, error.text};
}

template <class T>
using Result = boost::system::result<T, Error>;

// Required by boost::system::result for value() on an error.
[[noreturn]] inline void throw_exception_from_error(const Error& error,
                                                    const boost::source_location&) {
  throw std::runtime_error(error.text);
}

}  // namespace vitrine::tools
