// SPDX-License-Identifier: Apache-2.0
// InstanceLock: the right to be the one engine of an instance.
//
// Layout   a file of mode 0600 beside the segment's name that holds the owner's PID as text; the
//          lock is an open-file-description lock on the whole file.
// Threads  taken and dropped by the starting thread; otherwise untouched.
// Crash    the kernel drops the lock with the process; the file stays and is reused.
// Why      without a lock two starters can displace a live segment: both see a dead predecessor,
//          and the slower rename hits the faster one's new segment. The lock lies beside the
//          segment, so that whoever competes for the name competes for the lock
//          (docs/decisions/0004-lock-beside-the-segment.md).
#pragma once

#include <filesystem>

#include "shm/error.h"
#include "shm/file_descriptor.h"

namespace vitrine::shm {

class InstanceLock {
 public:
  // Takes the lock that guards `segment_path`. kInUse names the owner's PID; kUnreadable a file
  // that is a link, not regular, or another user's. Never waits.
  static Result<InstanceLock> take(const std::filesystem::path& segment_path);
  // True when the lock file's name no longer leads to this lock: it then keeps nobody out.
  bool is_name_lost(const std::filesystem::path& segment_path) const;

 private:
  explicit InstanceLock(FileDescriptor file) : file_(std::move(file)) {}

  FileDescriptor file_;
};

}  // namespace vitrine::shm
