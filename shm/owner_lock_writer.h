// SPDX-License-Identifier: Apache-2.0
// OwnerLock: the right to be the one engine that uses something.
//
// Layout   a file of mode 0600 with a line of 16 bytes for each kind of thing: the owner's PID as
//          text. The lock is an open-file-description lock on the line, so one file may guard
//          several things of one name.
// Threads  taken and dropped by the starting thread; that of the segment moves to the thread that
//          beats.
// Crash    the kernel drops the lock with the process; the file stays and is reused.
// Why      without a lock two starters can displace a live segment: both see a dead predecessor,
//          and the slower rename hits the faster one's new segment. Each lock lies beside what it
//          guards, so that whoever competes for a thing competes for its lock
//          (docs/decisions/0004-lock-beside-the-segment.md, 0005-what-an-engine-owns.md).
#pragma once

#include <filesystem>
#include <string>

#include "shm/error.h"
#include "shm/file_descriptor.h"

namespace vitrine::shm {

// What an engine has alone; the line of the lock file.
enum class Owned { kSegment = 0, kInstance = 1, kSocket = 2, kSpool = 3, kJobStore = 4 };

class OwnerLock {
 public:
  // Takes a line of `file`; `name` says in errors what it guards. kInUse names the owner: a live
  // engine's PID, or another user. kUnreadable: a file that cannot be a lock. Waits only for
  // who holds the whole file, as `vitrine gc` does for a moment: half a second at most.
  static Result<OwnerLock> take(const std::filesystem::path& file, Owned owned,
                                const std::string& name);
  // True when the file's name no longer leads to this lock: it then keeps nobody out.
  bool is_name_lost() const;
  // Removes the file, unless another engine owns a line of it.
  void remove_file() const;

 private:
  OwnerLock(FileDescriptor file, std::filesystem::path path, Owned owned)
      : file_(std::move(file)), path_(std::move(path)), owned_(owned) {}

  FileDescriptor file_;
  std::filesystem::path path_;
  Owned owned_;
};

}  // namespace vitrine::shm
