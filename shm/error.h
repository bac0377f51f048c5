// SPDX-License-Identifier: Apache-2.0
// How the status plane reports what it could not do: a kind to decide by and one line to show.
#pragma once

#include <boost/system/result.hpp>
#include <stdexcept>
#include <string>

namespace vitrine::shm {

enum class ErrorKind {
  kAbsent,       // no such segment
  kUnreadable,   // permission, owner, link, file system
  kCorrupt,      // the bytes break a rule of the layout
  kUnsupported,  // another major version, byte order or a required feature
  kInUse,        // a live engine has this instance
  kSystem        // the kernel refused: no space, no memory
};

struct Error {
  ErrorKind kind;
  std::string text;  // one line, names the path and the rule
};

template <class T>
using Result = boost::system::result<T, Error>;

// Required by boost::system::result for value() on an error.
[[noreturn]] inline void throw_exception_from_error(const Error& error,
                                                    const boost::source_location&) {
  throw std::runtime_error(error.text);
}

}  // namespace vitrine::shm
