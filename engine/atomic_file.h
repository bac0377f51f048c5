// SPDX-License-Identifier: Apache-2.0
// A file under construction: it takes its name only when it is complete.
//
// What is there and is no regular file (a device, a pipe) gets the bytes directly; behind a link
// the file that it names is replaced, not the link (shm/write_target.h).
//
// Threads: one.
// Crash: a temporary file may stay behind; under the name is the old file, or none, or the whole
// new one.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "engine/error.h"
#include "shm/file_descriptor.h"

namespace vitrine::engine {

class AtomicFile {
 public:
  // Errors of all functions: kInternal naming the file.
  [[nodiscard]] static Result<AtomicFile> create(const std::filesystem::path& path);

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  // Without commit() nothing stays behind.
  ~AtomicFile();

  // Appends. An error is kept and told by commit().
  void write(std::span<const std::byte> bytes);

  // Makes the content durable and gives the file its name. To be called once, last.
  [[nodiscard]] Result<void> commit();

 private:
  explicit AtomicFile(const std::filesystem::path& path);

  void flush();
  void note_failure();

  std::string path_;         // as it was given, for errors
  std::string destination_;  // the name to take
  std::string temporary_;    // empty when there is none to remove
  shm::FileDescriptor file_;
  std::vector<std::byte> buffer_;
  std::string failure_;  // the first one's reason
};

}  // namespace vitrine::engine
