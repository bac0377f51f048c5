// SPDX-License-Identifier: Apache-2.0
// Whether an engine lives, as the kernel knows it.
//
// Why   neither clocks nor PIDs can be trusted across namespaces and restarts; a lock on the open
//       file can: the kernel drops it at death, by any cause.
#pragma once

#include <filesystem>

#include "shm/segment_access.h"

namespace vitrine::shm {

struct Liveness {
  bool lock_held = false;    // some process still holds the writer's lock
  bool name_linked = false;  // the path still leads to this very file
  // Nothing was asked: of a dead segment the two above are false, of a recording they are as they
  // were when the frame was taken.
  bool is_file = false;
};

// True while a process holds the write lock of the open file. Asks with F_RDLCK, since another
// reader's read lock must not look like an engine; works on a read-only descriptor.
bool is_write_locked(const FileDescriptor& file);

Liveness probe_liveness(const OpenedFile& opened, const std::filesystem::path& path);

}  // namespace vitrine::shm
