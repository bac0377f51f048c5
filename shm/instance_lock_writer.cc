// SPDX-License-Identifier: Apache-2.0
#include "shm/instance_lock_writer.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "shm/paths.h"
#include "shm/publication_writer.h"

namespace vitrine::shm {
namespace {

constexpr int kReplacedTriesMax = 8;

Error system_error(ErrorKind kind, const std::filesystem::path& path, const char* what) {
  return Error{kind, path.string() + ": " + what + ": " + std::strerror(errno)};
}

// The PID that the owner wrote, or an explanation why there is none yet.
std::string owner_of(int file) {
  char digits[24] = {};
  const ssize_t length = ::pread(file, digits, sizeof(digits) - 1, 0);
  long pid = 0;
  if (length > 0) std::from_chars(digits, digits + length, pid);
  return pid > 0 ? "PID " + std::to_string(pid) : "a process that is just starting";
}

Result<void> write_own_pid(int file, const std::filesystem::path& path) {
  const std::string digits = std::to_string(::getpid()) + "\n";
  const auto size = static_cast<ssize_t>(digits.size());
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, digits.data(), digits.size(), 0) != size) {
    return system_error(ErrorKind::kSystem, path, "cannot write the owner");
  }
  return {};
}

Result<FileDescriptor> open_lock_file(const std::filesystem::path& path) {
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.is_open()) return system_error(ErrorKind::kUnreadable, path, "cannot open the lock");
  struct stat opened {};
  if (::fstat(file.number(), &opened) != 0 || !S_ISREG(opened.st_mode)) {
    return Error{ErrorKind::kUnreadable, path.string() + ": the lock is not a regular file"};
  }
  if (opened.st_uid != ::geteuid()) {
    return Error{ErrorKind::kInUse,
                 path.string() + ": the instance belongs to uid " + std::to_string(opened.st_uid)};
  }
  return file;
}

}  // namespace

Result<InstanceLock> InstanceLock::take(const std::filesystem::path& segment_path) {
  const std::filesystem::path path = lock_path_of(segment_path);
  for (int tries = 0; tries < kReplacedTriesMax; ++tries) {
    Result<FileDescriptor> file = open_lock_file(path);
    if (!file) return file.error();
    struct flock whole_file {};
    whole_file.l_type = F_WRLCK;
    whole_file.l_whence = SEEK_SET;
    if (::fcntl(file->number(), F_OFD_SETLK, &whole_file) != 0) {
      if (errno != EAGAIN && errno != EACCES) {
        return system_error(ErrorKind::kSystem, path, "cannot lock");
      }
      return Error{ErrorKind::kInUse,
                   segment_path.string() + ": a live engine has this instance: " +
                       owner_of(file->number()) + ", uid " + std::to_string(::geteuid())};
    }
    // Somebody may have removed the file between open and lock; a lock without a name guards
    // nothing.
    if (!leads_to(path, *file)) continue;
    if (Result<void> written = write_own_pid(file->number(), path); !written) {
      return written.error();
    }
    return InstanceLock(std::move(*file));
  }
  return Error{ErrorKind::kSystem, path.string() + ": the lock file keeps being replaced"};
}

bool InstanceLock::is_name_lost(const std::filesystem::path& segment_path) const {
  return !leads_to(lock_path_of(segment_path), file_);
}

}  // namespace vitrine::shm
