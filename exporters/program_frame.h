// SPDX-License-Identifier: Apache-2.0
// What every exporter program does around its work: leave signals to one place, say what it was
// asked to say, and end with the right code.
//
// Threads  call block_signals() before any thread is started: they inherit it.
#pragma once

#include <csignal>
#include <initializer_list>
#include <string>

#include "exporters/error.h"

namespace vitrine::exporters {

// Blocks the signals, so that every thread leaves them to who waits for the set; SIGPIPE is
// ignored, so that a reader that went away is an error of a write.
sigset_t block_signals(std::initializer_list<int> signals);

// On standard output. A reader that went away is no error.
[[nodiscard]] Result<void> print(const std::string& text);

// The exit code (docs/exit-codes.md), after saying in one line what went wrong.
int end_program(const std::string& program, const Result<void>& result);

}  // namespace vitrine::exporters
