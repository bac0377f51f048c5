// SPDX-License-Identifier: Apache-2.0
// The name of the CPU path the kernels take on this machine.
//
// Threads: pure function.
#pragma once

#include <string_view>

namespace vitrine::kernels {

// A string literal, as published in the engine's status: "x86-64 adx" or "portable".
std::string_view kernel_path_name();

}  // namespace vitrine::kernels
