// SPDX-License-Identifier: Apache-2.0
#include "shm/publication_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "shm/dead_segments_writer.h"
#include "shm/incarnation.h"
#include "shm/layout.h"
#include "shm/paths.h"

namespace vitrine::shm {
namespace {

Error refuse(ErrorKind kind, const std::filesystem::path& path, const std::string& rule) {
  return Error{kind, path.string() + ": " + rule};
}

Error system_error(const std::filesystem::path& path, const std::string& what) {
  return refuse(ErrorKind::kSystem, path, what + ": " + std::strerror(errno));
}

// True while some process holds the writer's lock. Asked as a read lock, so that another reader's
// lock is not mistaken for a writer's.
bool is_locked(int file) {
  struct flock whole_file {};
  whole_file.l_type = F_RDLCK;
  whole_file.l_whence = SEEK_SET;
  return ::fcntl(file, F_OFD_GETLK, &whole_file) == 0 && whole_file.l_type != F_UNLCK;
}

// Why the name cannot even be looked at; `errno` says what open() said.
Error open_error(const std::filesystem::path& path) {
  const int code = errno;
  struct stat found {};
  const bool is_others =
      code == EACCES && ::lstat(path.c_str(), &found) == 0 && found.st_uid != ::geteuid();
  if (is_others) {
    return refuse(ErrorKind::kInUse, path,
                  "belongs to another user: uid " + std::to_string(found.st_uid));
  }
  if (code == ELOOP) return refuse(ErrorKind::kUnreadable, path, "is a symbolic link");
  return refuse(ErrorKind::kUnreadable, path,
                std::string("cannot be opened: ") + std::strerror(code));
}

// What is at a name that an engine wants: a segment, whose incarnation it has, or an empty file.
struct Predecessor {
  bool is_there = false;
  std::optional<Incarnation> incarnation;
};

Result<Predecessor> examine(const std::filesystem::path& path) {
  const int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
  const FileDescriptor file(::open(path.c_str(), flags));
  if (!file.is_open() && errno == ENOENT) return Predecessor{};
  if (!file.is_open()) return open_error(path);
  struct stat found {};
  if (::fstat(file.number(), &found) != 0) return system_error(path, "cannot be examined");
  if (!S_ISREG(found.st_mode)) {
    return refuse(ErrorKind::kUnreadable, path, "is not a regular file");
  }
  Header header{};
  const bool is_whole = ::pread(file.number(), &header, sizeof(header), 0) == sizeof(header);
  const bool is_ours = is_whole && header.fixed.magic == kMagic;
  const std::string owner = (is_ours ? "PID " + std::to_string(header.pid) + ", " : "") + "uid " +
                            std::to_string(found.st_uid);
  if (is_locked(file.number())) {
    return refuse(ErrorKind::kInUse, path, "a live engine has it: " + owner);
  }
  if (found.st_uid != ::geteuid()) {
    return refuse(ErrorKind::kInUse, path, "belongs to another user: " + owner);
  }
  if (!is_ours && found.st_size != 0) {
    return refuse(ErrorKind::kUnreadable, path, "is not a segment; remove or rename it");
  }
  Predecessor predecessor{true, {}};
  if (is_ours) predecessor.incarnation = header.incarnation;
  return predecessor;
}

}  // namespace

Result<void> check_predecessor(const std::filesystem::path& path) {
  if (const Result<Predecessor> found = examine(path); !found) return found.error();
  return {};
}

Result<void> retire_predecessor(const std::filesystem::path& path) {
  const Result<Predecessor> found = examine(path);
  if (!found) return found.error();
  if (found->incarnation) {
    const auto dead = dead_path_of(path, incarnation_text(*found->incarnation));
    if (::rename(path.c_str(), dead.c_str()) != 0) {
      return system_error(path, "the dead segment cannot be renamed");
    }
  } else if (found->is_there && ::unlink(path.c_str()) != 0) {
    return system_error(path, "the empty file in its place cannot be removed");
  }
  // Also when there was none to retire: a start that was killed right here left one too many.
  remove_old_dead_segments(path);
  return {};
}

Result<FileDescriptor> create_unnamed(const std::filesystem::path& path, std::size_t size_bytes) {
  const std::filesystem::path directory = path.parent_path();
  FileDescriptor file(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file.is_open()) return system_error(directory, "cannot create a segment");
  if (const int code = ::posix_fallocate(file.number(), 0, static_cast<off_t>(size_bytes))) {
    errno = code;
    return system_error(directory,
                        "no room for a segment of " + std::to_string(size_bytes) + " bytes");
  }
  return file;
}

Result<void> link_to_name(const FileDescriptor& file, const std::filesystem::path& path,
                          const Access& access) {
  if (::fchmod(file.number(), access.mode) != 0) return system_error(path, "cannot set the mode");
  if (access.group && ::fchown(file.number(), ~uid_t{0}, *access.group) != 0) {
    return system_error(path, "cannot set the group");
  }
  struct flock whole_file {};
  whole_file.l_type = F_WRLCK;
  whole_file.l_whence = SEEK_SET;
  if (::fcntl(file.number(), F_OFD_SETLK, &whole_file) != 0) {
    return system_error(path, "cannot lock the segment");
  }
  const std::string unnamed = "/proc/self/fd/" + std::to_string(file.number());
  if (::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) != 0) {
    return system_error(path, "cannot name the segment");
  }
  return {};
}

bool leads_to(const std::filesystem::path& path, const FileDescriptor& file) {
  struct stat named {};
  struct stat own {};
  return ::fstat(file.number(), &own) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         named.st_ino == own.st_ino && named.st_dev == own.st_dev;
}

}  // namespace vitrine::shm
