// SPDX-License-Identifier: Apache-2.0
// Makes any bytes valid UTF-8, so that no text of a segment can break an output format.
//
// Source   The Unicode Standard, table 3-7 (well-formed sequences) and section 3.9 (one U+FFFD for
//          each maximal subpart).
#pragma once

#include <string>
#include <string_view>

namespace vitrine::shm {

// `bytes` with every ill-formed part replaced by U+FFFD; unchanged when it is well-formed.
std::string repair_utf8(std::string_view bytes);

}  // namespace vitrine::shm
