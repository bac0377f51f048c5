// SPDX-License-Identifier: Apache-2.0
#include "shm/owner_lock_writer.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <thread>

#include "shm/clock.h"
#include "shm/publication_writer.h"

namespace vitrine::shm {
namespace {

constexpr int kReplacedTriesMax = 8;
constexpr std::uint64_t kPassingNs = 500'000'000;
constexpr auto kLookEvery = std::chrono::milliseconds(1);
constexpr off_t kLineBytes = 16;
constexpr off_t kFileBytesMax = 5 * kLineBytes;

Error system_error(ErrorKind kind, const std::filesystem::path& path, const char* what) {
  return Error{kind, path.string() + ": " + what + ": " + std::strerror(errno)};
}

off_t offset_of(Owned owned) { return static_cast<off_t>(owned) * kLineBytes; }

struct flock lock_of(off_t offset, off_t size) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = offset;
  lock.l_len = size;
  return lock;
}

// The PID that the owner wrote, or an explanation why there is none yet.
std::string owner_of(int file, Owned owned) {
  char digits[kLineBytes] = {};
  const ssize_t length = ::pread(file, digits, sizeof(digits), offset_of(owned));
  long pid = 0;
  if (length > 0) std::from_chars(digits, digits + length, pid);
  return pid > 0 ? "PID " + std::to_string(pid) : "a process that is just starting";
}

Result<void> write_own_pid(int file, Owned owned, const std::filesystem::path& path) {
  std::string line = std::to_string(::getpid());
  line.resize(kLineBytes - 1, ' ');
  line.push_back('\n');
  if (::pwrite(file, line.data(), line.size(), offset_of(owned)) != kLineBytes) {
    return system_error(ErrorKind::kSystem, path, "cannot write the owner");
  }
  return {};
}

// EACCES is also what root gets for another user's file in a sticky folder.
Error open_error(const std::filesystem::path& path, const std::string& name) {
  const Error unreadable = system_error(ErrorKind::kUnreadable, path, "cannot open the lock");
  struct stat found {};
  const bool is_others =
      errno == EACCES && ::lstat(path.c_str(), &found) == 0 && found.st_uid != ::geteuid();
  if (!is_others) return unreadable;
  return Error{ErrorKind::kInUse, name + ": belongs to another user: uid " +
                                      std::to_string(found.st_uid) + " has " + path.string()};
}

Result<FileDescriptor> open_lock_file(const std::filesystem::path& path, Owned owned,
                                      const std::string& name) {
  FileDescriptor file(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600));
  if (!file.is_open()) return open_error(path, name);
  struct stat opened {};
  if (::fstat(file.number(), &opened) != 0 || !S_ISREG(opened.st_mode)) {
    return Error{ErrorKind::kUnreadable, path.string() + ": the lock is not a regular file"};
  }
  if (opened.st_uid != ::geteuid()) {
    return Error{ErrorKind::kInUse,
                 name + ": belongs to another user: " + owner_of(file.number(), owned) + ", uid " +
                     std::to_string(opened.st_uid)};
  }
  if (opened.st_size > kFileBytesMax) {
    return Error{ErrorKind::kUnreadable, path.string() + ": is not a lock file; remove or rename"};
  }
  return file;
}

// True when the line is free again, or held with the whole file, as by who removes a dead segment:
// an engine has its own line only.
bool is_passing(int file, Owned owned) {
  struct flock holder = lock_of(offset_of(owned), kLineBytes);
  if (::fcntl(file, F_OFD_GETLK, &holder) != 0) return false;
  return holder.l_type == F_UNLCK || holder.l_len == 0;
}

}  // namespace

Result<OwnerLock> OwnerLock::take(const std::filesystem::path& file, Owned owned,
                                  const std::string& name) {
  const std::uint64_t end_ns = monotonic_ns() + kPassingNs;
  for (int tries = 0; tries < kReplacedTriesMax;) {
    Result<FileDescriptor> opened = open_lock_file(file, owned, name);
    if (!opened) return opened.error();
    struct flock line = lock_of(offset_of(owned), kLineBytes);
    if (::fcntl(opened->number(), F_OFD_SETLK, &line) != 0) {
      if (errno != EAGAIN && errno != EACCES) {
        return system_error(ErrorKind::kSystem, file, "cannot lock");
      }
      if (is_passing(opened->number(), owned) && monotonic_ns() < end_ns) {
        std::this_thread::sleep_for(kLookEvery);
        continue;
      }
      return Error{ErrorKind::kInUse,
                   name + ": a live engine has it: " + owner_of(opened->number(), owned) +
                       ", uid " + std::to_string(::geteuid())};
    }
    // Somebody may have removed the file between open and lock; a lock without a name guards
    // nothing.
    if (!leads_to(file, *opened)) {
      ++tries;
      continue;
    }
    if (Result<void> written = write_own_pid(opened->number(), owned, file); !written) {
      return written.error();
    }
    return OwnerLock(std::move(*opened), file, owned);
  }
  return Error{ErrorKind::kSystem, file.string() + ": the lock file keeps being replaced"};
}

bool OwnerLock::is_name_lost() const { return !leads_to(path_, file_); }

void OwnerLock::remove_file() const {
  struct flock others = lock_of(0, 0);  // the whole file; one's own lock does not count
  if (::fcntl(file_.number(), F_OFD_GETLK, &others) != 0 || others.l_type != F_UNLCK) return;
  if (!is_name_lost()) ::unlink(path_.c_str());
}

}  // namespace vitrine::shm
