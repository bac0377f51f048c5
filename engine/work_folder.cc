// SPDX-License-Identifier: Apache-2.0
#include "engine/work_folder.h"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "engine/quantities.h"
#include "shm/file_descriptor.h"

namespace vitrine::engine {
namespace {

constexpr int kRemovalsTried = 100;
constexpr std::uint64_t kCopiedAtOnce = std::uint64_t{1} << 30;

Error no_place() {
  return {ErrorClass::kOutOfMemory, std::string("the spool: ") + std::strerror(errno)};
}

// `bytes` of one file to the other, or fewer when it became shorter meanwhile.
Result<void> copy_bytes(const shm::FileDescriptor& from, const shm::FileDescriptor& to,
                        std::uint64_t bytes) {
  while (bytes > 0) {
    const ssize_t copied = ::sendfile(to.number(), from.number(), nullptr,
                                      static_cast<std::size_t>(std::min(bytes, kCopiedAtOnce)));
    if (copied < 0 && errno == EINTR) continue;
    if (copied < 0) return no_place();
    if (copied == 0) break;
    bytes -= static_cast<std::uint64_t>(copied);
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<WorkFolder>> WorkFolder::make(const std::filesystem::path& path) {
  if (::mkdir(path.c_str(), 0700) != 0) return no_place();
  return std::make_unique<WorkFolder>(path);
}

// A process that was just killed may still make a file.
WorkFolder::~WorkFolder() {
  std::error_code problem;
  for (int tries = 0; tries < kRemovalsTried; ++tries) {
    std::filesystem::remove_all(path_, problem);
    if (!problem) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

Result<std::filesystem::path> WorkFolder::copy_in(const std::filesystem::path& from,
                                                  const char* name, std::uint64_t bytes_max) const {
  const shm::FileDescriptor source(
      ::open(from.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat found {};
  if (!source.is_open() || ::fstat(source.number(), &found) != 0) {
    return bad_input(std::string("cannot be read: ") + std::strerror(errno));
  }
  if (!S_ISREG(found.st_mode)) return bad_input("is not a regular file");
  const auto bytes = static_cast<std::uint64_t>(found.st_size);
  if (bytes > bytes_max) {
    return bad_input("has " + exact_size_text(bytes) + ", more than the " +
                     exact_size_text(bytes_max) + " of upload_limit");
  }
  const std::filesystem::path path = path_ / name;
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const shm::FileDescriptor copy(::open(path.c_str(), flags, 0600));
  if (!copy.is_open()) return no_place();
  if (auto copied = copy_bytes(source, copy, bytes); !copied) return copied.error();
  return path;
}

}  // namespace vitrine::engine
