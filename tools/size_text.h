// SPDX-License-Identifier: Apache-2.0
// Sizes as people read them: 512 B, 64.0 KiB, 1.5 GiB.
#pragma once

#include <cstdint>
#include <string>

namespace vitrine::tools {

std::string size_text(std::uint64_t bytes);

}  // namespace vitrine::tools
