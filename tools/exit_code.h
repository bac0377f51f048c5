// SPDX-License-Identifier: Apache-2.0
// The exit codes of the command line, a promise to scripts. Commands that look at an instance,
// those that follow a job and `check` share the numbers, so some numbers have several names.
#pragma once

namespace vitrine::tools {

enum class ExitCode : int {
  kOk = 0,
  kFailed = 1,
  kDegraded = 1,  // or draining
  kUsage = 2,
  kCheckCritical = 2,  // hung, dead or exited
  kNoInstance = 3,
  kCheckUnknown = 3,
  kNoEngine = 3,
  kDead = 4,  // or exited
  kUnreadable = 5,
  kHung = 6,
  kCancelled = 6,
  kTimeout = 7,
  kRefused = 8,
  kLost = 9
};

}  // namespace vitrine::tools
