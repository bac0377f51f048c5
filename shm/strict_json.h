// SPDX-License-Identifier: Apache-2.0
// Parses JSON that comes from outside: as Boost.JSON does, but a member that an object has twice is
// a fault.
//
// Cost     two passes; the first keeps the names of the objects that are open.
// Why      of two members of one name one would be dropped without a word, and two readers of one
//          text could differ in which.
#pragma once

#include <boost/json/value.hpp>
#include <boost/system/result.hpp>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace vitrine::shm {

struct JsonFault {
  std::string text;  // one line: "not JSON: ..." or which member is given twice
};

// Required by boost::system::result for value() on a fault.
[[noreturn]] inline void throw_exception_from_error(const JsonFault& fault,
                                                    const boost::source_location&) {
  throw std::runtime_error(fault.text);
}

// Arrays and objects within each other are bounded by `depth_max`.
[[nodiscard]] boost::system::result<boost::json::value, JsonFault> parse_strict_json(
    std::string_view text, std::size_t depth_max);

}  // namespace vitrine::shm
