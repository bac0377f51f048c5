// SPDX-License-Identifier: Apache-2.0
// The bytes of a segment as a file that shows one moment, also while its engine goes on.
//
// Why   bytes that are copied while they are written are of many moments, and a file's reader has
//       no way to notice. So the tables and events of a living engine's copy are written again from
//       a consistent snapshot: each row with one version, each event whole.
#pragma once

#include <string>

#include "shm/attachment.h"
#include "tools/error.h"

namespace vitrine::tools {

// Of the segment that the attachment has; of a recording all of it. Errors: kUnreadable when its
// name leads to another segment by now, or when it changes faster than it can be copied.
Result<std::string> copy_segment(shm::Attachment& attachment);

}  // namespace vitrine::tools
