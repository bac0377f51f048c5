// SPDX-License-Identifier: Apache-2.0
// The tone in which each verdict, job state and stage is shown.
#pragma once

#include "shm/verdict.h"
#include "tools/styled_text.h"

namespace vitrine::tools {

inline Tone tone_of(shm::VerdictWord word) {
  switch (word) {
    case shm::VerdictWord::kBusy:
    case shm::VerdictWord::kIdle:
      return Tone::kGood;
    case shm::VerdictWord::kStarting:
    case shm::VerdictWord::kDraining:
    case shm::VerdictWord::kDegraded:
      return Tone::kWarning;
    case shm::VerdictWord::kExited:
      return Tone::kFaint;
    default:
      return Tone::kBad;
  }
}

inline Tone tone_of(shm::JobState state) {
  switch (state) {
    case shm::JobState::kRunning:
    case shm::JobState::kAssembling:
      return Tone::kActive;
    case shm::JobState::kDone:
      return Tone::kGood;
    case shm::JobState::kCancelled:
      return Tone::kFaint;
    case shm::JobState::kFailed:
    case shm::JobState::kRefused:
    case shm::JobState::kLost:
      return Tone::kBad;
    default:
      return Tone::kQueued;
  }
}

}  // namespace vitrine::tools
