// SPDX-License-Identifier: Apache-2.0
// What all stages do around their work: turn a failed allocation into an error value.
#pragma once

#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "engine/error.h"

namespace vitrine::engine {

// body() answers a Result.
template <class Body>
auto guard_stage(std::string_view stage, Body&& body) -> decltype(body()) {
  try {
    return std::forward<Body>(body)();
  } catch (const std::bad_alloc&) {
    return Error{ErrorClass::kOutOfMemory, std::string(stage) + ": no memory"};
  }
}

}  // namespace vitrine::engine
