// SPDX-License-Identifier: Apache-2.0
// Where a thread of the engine calls something that may throw: whatever comes out is a value.
//
// Why: an exception fails the item at hand, never the engine.
#pragma once

#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "engine/error.h"

namespace vitrine::engine {

// body() answers a Result. `exceptions` counts those that are no failed allocation.
template <class Body>
auto guard_all(std::string_view what, std::uint64_t& exceptions, Body&& body) -> decltype(body()) {
  try {
    return std::forward<Body>(body)();
  } catch (const std::bad_alloc&) {
    return Error{ErrorClass::kOutOfMemory, std::string(what) + ": no memory"};
  } catch (const std::exception& thrown) {
    ++exceptions;
    return Error{ErrorClass::kInternal, std::string(what) + ": exception: " + thrown.what()};
  } catch (...) {
    ++exceptions;
    return Error{ErrorClass::kInternal, std::string(what) + ": unknown exception"};
  }
}

template <class Body>
auto guard_all(std::string_view what, Body&& body) -> decltype(body()) {
  std::uint64_t uncounted = 0;
  return guard_all(what, uncounted, std::forward<Body>(body));
}

}  // namespace vitrine::engine
