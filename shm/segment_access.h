// SPDX-License-Identifier: Apache-2.0
// Which files a reader is willing to map: the rules against planted segments.
//
// Why   in a directory that others can write, anybody can put a file of any name, a link to a
//       file elsewhere, or a pipe that blocks whoever opens it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>

#include "shm/error.h"
#include "shm/file_descriptor.h"

namespace vitrine::shm {

// When the pages of a segment are mapped: all at once, so that no read waits for one, or those that
// are touched, which costs a single look less.
enum class Paging { kAhead, kAsTouched };

struct AttachOptions {
  std::optional<uid_t> owner = {};  // trusted beside root and the reader itself
  bool any_filesystem = false;  // also map files that are not in tmpfs, where a page can be lost
  Paging paging = Paging::kAhead;
};

struct OpenedFile {
  FileDescriptor file;
  std::uint64_t size_bytes;
  std::uint64_t inode;
  std::uint64_t device;
};

// Opens a live segment for reading: no links followed, a regular file with one name, of a trusted
// owner when others can write its directory. Errors: kAbsent, kUnreadable.
Result<OpenedFile> open_segment(const std::filesystem::path& path, const AttachOptions& options);

// Whether the file lies in a tmpfs or ramfs, whose pages are memory.
bool is_in_memory(const FileDescriptor& file);

// Opens a file that will be read, not mapped: regular, of any owner and file system.
Result<OpenedFile> open_recording(const std::filesystem::path& path);

}  // namespace vitrine::shm
