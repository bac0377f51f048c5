// SPDX-License-Identifier: Apache-2.0
// The one screen of `vitrine show`.
#pragma once

#include <string>

#include "tools/view.h"

namespace vitrine::tools {

// All sections that have something to show; of an engine that is gone also what every partition
// was doing.
std::string show_screen(const View& view);

}  // namespace vitrine::tools
