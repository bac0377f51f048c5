// SPDX-License-Identifier: Apache-2.0
// What is behind a path that a program was told to write: a file to replace as a whole, or
// something that only takes bytes (a device, a pipe, standard output).
//
// Why   a rename puts a regular file in the place of whatever had the name: of a device node, of a
//       pipe that somebody reads, of a link instead of the file that it names.
#pragma once

#include <filesystem>
#include <string>

#include "shm/error.h"
#include "shm/file_descriptor.h"

namespace vitrine::shm {

struct WriteTarget {
  std::filesystem::path file;  // with links followed; write beside it and rename
  FileDescriptor stream;       // open when the bytes go here instead, without a rename

  bool is_stream() const { return stream.is_open(); }
};

// A pipe is waited for until somebody reads it, 10 s at most. What standard output or standard
// error already is, is written through it, so that neither overwrites the other. Errors: kSystem
// and the reason, without the path; a folder is one.
Result<WriteTarget> open_write_target(const std::filesystem::path& path);

// The same text for two paths that lead to one file, whether it is there already or not.
std::string file_identity(const std::filesystem::path& path);

}  // namespace vitrine::shm
