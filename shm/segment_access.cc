// SPDX-License-Identifier: Apache-2.0
#include "shm/segment_access.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace vitrine::shm {
namespace {

Error refuse(const std::filesystem::path& path, const std::string& rule) {
  return Error{ErrorKind::kUnreadable, path.string() + ": " + rule};
}

Error open_error(const std::filesystem::path& path) {
  if (errno == ENOENT || errno == ENOTDIR) {
    return Error{ErrorKind::kAbsent, path.string() + ": no such segment"};
  }
  if (errno == ELOOP) return refuse(path, "is a symbolic link; a segment is never one");
  return refuse(path, std::string("cannot be opened: ") + std::strerror(errno));
}

bool is_trusted(uid_t owner, const AttachOptions& options) {
  return owner == 0 || owner == ::geteuid() || (options.owner && owner == *options.owner);
}

// Whether somebody untrusted could have put the file into the directory.
bool is_open_to_others(const struct stat& directory, const AttachOptions& options) {
  constexpr mode_t kWritableByOthers = S_IWGRP | S_IWOTH;
  return (directory.st_mode & kWritableByOthers) != 0 || !is_trusted(directory.st_uid, options);
}

OpenedFile opened(FileDescriptor file, const struct stat& found) {
  return OpenedFile{std::move(file), static_cast<std::uint64_t>(found.st_size), found.st_ino,
                    found.st_dev};
}

}  // namespace

bool is_in_memory(const FileDescriptor& file) {
  struct statfs system {};
  return ::fstatfs(file.number(), &system) == 0 &&
         (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC);
}

Result<OpenedFile> open_segment(const std::filesystem::path& path, const AttachOptions& options) {
  const auto parent = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  const FileDescriptor directory(::open(parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory.is_open()) return open_error(path);
  constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
  FileDescriptor file(::openat(directory.number(), path.filename().c_str(), kFlags));
  if (!file.is_open()) return open_error(path);

  struct stat place {};
  struct stat found {};
  if (::fstat(directory.number(), &place) != 0 || ::fstat(file.number(), &found) != 0) {
    return refuse(path, std::string("cannot be examined: ") + std::strerror(errno));
  }
  if (!S_ISREG(found.st_mode)) return refuse(path, "is not a regular file");
  if (found.st_nlink > 1) {
    return refuse(path, "has " + std::to_string(found.st_nlink) + " names; a segment has one");
  }
  if (is_open_to_others(place, options) && !is_trusted(found.st_uid, options)) {
    return refuse(path, "belongs to uid " + std::to_string(found.st_uid) +
                            " in a directory that others can write; name that uid with --owner"
                            " to trust it");
  }
  if (!options.any_filesystem && !is_in_memory(file)) {
    return refuse(path, "is not in a tmpfs; --any-filesystem maps it all the same");
  }
  return opened(std::move(file), found);
}

Result<OpenedFile> open_recording(const std::filesystem::path& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) return open_error(path);
  struct stat found {};
  if (::fstat(file.number(), &found) != 0) {
    return refuse(path, std::string("cannot be examined: ") + std::strerror(errno));
  }
  if (!S_ISREG(found.st_mode)) return refuse(path, "is not a regular file");
  return opened(std::move(file), found);
}

}  // namespace vitrine::shm
