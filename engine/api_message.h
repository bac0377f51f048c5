// SPDX-License-Identifier: Apache-2.0
// One request to the API and its answer, apart from how they travel.
#pragma once

#include <boost/assert/source_location.hpp>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/witness_file.h"

namespace vitrine::engine {

struct ApiRequest {
  std::string method;
  std::string path;                          // without the query
  std::map<std::string, std::string> query;  // decoded
  std::vector<WitnessFile> witnesses;        // uploaded ones, in order
  std::string json;                          // a JSON body
  std::function<bool()> has_client_left = [] { return false; };
};

struct ApiResponse {
  unsigned status = 200;
  std::string body;
  std::string content_type = "application/json";
  std::map<std::string, std::string> headers;
};

// Required by boost::system::result for value() on a failure's answer.
[[noreturn]] inline void throw_exception_from_error(const ApiResponse& answer,
                                                    const boost::source_location&) {
  throw std::runtime_error(answer.body);
}

// RFC 9457 problem JSON; `detail` is one line for a person.
[[nodiscard]] ApiResponse problem(unsigned status, const std::string& detail);

}  // namespace vitrine::engine
