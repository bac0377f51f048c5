// SPDX-License-Identifier: Apache-2.0
// Whole small segments from the real writer, to be damaged.
#pragma once

#include "tests/fuzz/damage_script.h"

namespace vitrine::fuzz {

// A segment as an engine leaves it, with the same bytes in every run; its places are header, table
// of sections, hot lines, heads, stamps and fields.
Base segment_after(std::uint64_t commits);

// Nothing in it; something in every table; every slot and the event ring used several times over.
std::vector<Base> segment_bases();

}  // namespace vitrine::fuzz
