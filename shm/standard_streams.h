// SPDX-License-Identifier: Apache-2.0
// The first thing a program does.
#pragma once

namespace vitrine::shm {

// Takes the numbers of standard input, output and error when the caller left them closed, so that
// no lock, segment or key that is opened later is read or written in their place. Reading or
// writing what was closed still fails. Call it before anything is opened.
void occupy_standard_streams();

}  // namespace vitrine::shm
