// SPDX-License-Identifier: Apache-2.0
#include "kernels/kernel_path.h"

namespace vitrine::kernels {

std::string_view kernel_path_name() { return "portable"; }

}  // namespace vitrine::kernels
