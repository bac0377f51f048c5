// SPDX-License-Identifier: Apache-2.0
// How an exporter reports what it could not do: a kind that decides the exit code, and one line.
#pragma once

#include <boost/system/result.hpp>
#include <stdexcept>
#include <string>

namespace vitrine::exporters {

enum class ErrorKind {
  kUsage,   // a flag, a value or an address: exit 2
  kRuntime  // the system refused something that was asked for rightly: exit 1
};

struct Error {
  ErrorKind kind;
  std::string text;  // names the input and the rule
};

template <class T>
using Result = boost::system::result<T, Error>;

// Required by boost::system::result for value() on an error.
[[noreturn]] inline void throw_exception_from_error(const Error& error,
                                                    const boost::source_location&) {
  throw std::runtime_error(error.text);
}

}  // namespace vitrine::exporters
