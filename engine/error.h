// SPDX-License-Identifier: Apache-2.0
// How the engine reports that something went wrong: a class a program can act on and one line a
// person can.
//
// Why: operating errors (bad files, no memory, cancelled work) are values that cannot be ignored;
// exceptions are left to broken invariants and to the standard library.
#pragma once

#include <boost/assert/source_location.hpp>
#include <boost/system/result.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace vitrine::engine {

enum class ErrorClass {
  kBadInput,
  kOutOfMemory,
  kDeviceError,
  kVerifyFailed,
  kCancelled,
  kTimeout,
  kLost,
  kInternal,
  kUsage,
  kRefused,  // the engine does not take the job now; that is nobody's fault
};

struct Error {
  ErrorClass error_class = ErrorClass::kInternal;
  std::string text;  // one line: what, which rule, expected and actual
};

template <class T>
using Result = boost::system::result<T, Error>;

// The class as the API and the segment spell it: "bad_input", "out_of_memory", ...
[[nodiscard]] std::string_view error_class_name(ErrorClass error_class);

inline Error bad_input(std::string text) { return {ErrorClass::kBadInput, std::move(text)}; }

inline Error cancelled_error() { return {ErrorClass::kCancelled, "cancelled"}; }

// Lets Result::value() throw; only tests and broken invariants come here.
[[noreturn]] inline void throw_exception_from_error(const Error& error,
                                                    const boost::source_location&) {
  throw std::runtime_error(error.text);
}

}  // namespace vitrine::engine
