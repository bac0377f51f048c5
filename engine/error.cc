// SPDX-License-Identifier: Apache-2.0
#include "engine/error.h"

#include <cstdlib>

namespace vitrine::engine {

std::string_view error_class_name(ErrorClass error_class) {
  switch (error_class) {
    case ErrorClass::kBadInput:
      return "bad_input";
    case ErrorClass::kOutOfMemory:
      return "out_of_memory";
    case ErrorClass::kDeviceError:
      return "device_error";
    case ErrorClass::kVerifyFailed:
      return "verify_failed";
    case ErrorClass::kCancelled:
      return "cancelled";
    case ErrorClass::kTimeout:
      return "timeout";
    case ErrorClass::kLost:
      return "lost";
    case ErrorClass::kInternal:
      return "internal";
    case ErrorClass::kUsage:
      return "usage";
    case ErrorClass::kRefused:
      return "none";
  }
  std::abort();
}

}  // namespace vitrine::engine
