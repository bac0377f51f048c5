// SPDX-License-Identifier: Apache-2.0
// How a segment gets its file and its name, and what becomes of the one before it.
//
// Writer   an unnamed file is created, filled, locked and only then linked to its name, so that
//          no reader ever sees a half-built segment.
// Crash    before the link nothing remains; after it the segment is whole, and its lock says dead.
// Requires the OwnerLock of the path is held during every call but check_predecessor.
#pragma once

#include <filesystem>
#include <optional>

#include "shm/error.h"
#include "shm/file_descriptor.h"

namespace vitrine::shm {

// Whether what is at `path` may be replaced: nothing, or a dead segment of one's own. kInUse: it is
// alive or another user's, whom the text names.
Result<void> check_predecessor(const std::filesystem::path& path);

// Renames a dead predecessor at `path` to its .dead name and removes all but 3 of the dead
// segments of the instance. Errors as check_predecessor.
Result<void> retire_predecessor(const std::filesystem::path& path);

// An unnamed file of `size_bytes` in the directory of `path`, its pages reserved: a full file
// system is an error now, not a SIGBUS later.
Result<FileDescriptor> create_unnamed(const std::filesystem::path& path, std::size_t size_bytes);

struct Access {
  unsigned mode;
  std::optional<unsigned> group;
};
// Sets the access rights, takes the lock that readers ask about, and links the file to `path`.
Result<void> link_to_name(const FileDescriptor& file, const std::filesystem::path& path,
                          const Access& access);

// Whether `path` is a name of `file`.
bool leads_to(const std::filesystem::path& path, const FileDescriptor& file);

}  // namespace vitrine::shm
