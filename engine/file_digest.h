// SPDX-License-Identifier: Apache-2.0
// FileDigest: the SHA-256 of a file, computed while the same file is read for another purpose.
//
// Threads: one of its own, from begin() until the digest is there or the object goes away.
// Cost: the file is read once more, mostly from the page cache that the other reader fills.
// Why: a key's sections are read by several threads and in no order, a digest wants the bytes in
// theirs. Both read through one descriptor, and a file that is written to meanwhile is refused, so
// that the digest is that of what was read.
#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <string>

#include "engine/binary_container.h"
#include "engine/error.h"

namespace vitrine::engine {

class FileDigest {
 public:
  // `file` outlives the digest.
  explicit FileDigest(const BinaryContainer& file) : file_(file) {}
  ~FileDigest() { is_abandoned_.store(true, std::memory_order_relaxed); }
  FileDigest(const FileDigest&) = delete;
  FileDigest& operator=(const FileDigest&) = delete;

  void begin();
  // 64 hexadecimal digits. Calls `still_waiting` a few times a second; what it throws ends the
  // wait. Errors: kBadInput when the file cannot be read, or changed since it was opened. Requires
  // begin(); once.
  [[nodiscard]] Result<std::string> await(const std::function<void()>& still_waiting);

 private:
  [[nodiscard]] Result<std::string> compute() const;

  const BinaryContainer& file_;
  std::atomic<bool> is_abandoned_{false};
  std::future<Result<std::string>> digest_;  // its destructor waits for the thread
};

}  // namespace vitrine::engine
