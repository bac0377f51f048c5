// SPDX-License-Identifier: Apache-2.0
#include "engine/start_failure.h"

#include <cstdlib>

#include "engine/exit_codes.h"

namespace vitrine::engine {

StartFailure start_failure_of(const shm::Error& error) {
  switch (error.kind) {
    case shm::ErrorKind::kInUse:
      return {StartFailure::Kind::kInUse, error.text};
    case shm::ErrorKind::kUnreadable:
      return {StartFailure::Kind::kUsage, error.text};
    default:
      return {StartFailure::Kind::kRuntime, error.text};
  }
}

int exit_code_of(StartFailure::Kind kind) {
  switch (kind) {
    case StartFailure::Kind::kRuntime:
      return kExitFailed;
    case StartFailure::Kind::kUsage:
      return kExitUsage;
    case StartFailure::Kind::kInUse:
      return kExitInUse;
    case StartFailure::Kind::kNoGpu:
      return kExitNoGpu;
  }
  std::abort();
}

}  // namespace vitrine::engine
