// SPDX-License-Identifier: Apache-2.0
#include "engine/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "shm/write_target.h"

namespace vitrine::engine {

namespace {
constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
}  // namespace

// One temporary name per process and target: a crashed predecessor's leftover goes, and O_EXCL
// follows no link that somebody else puts there.
AtomicFile::AtomicFile(const std::filesystem::path& path) : path_(path.string()) {
  auto target = shm::open_write_target(path);
  if (!target) {
    failure_ = target.error().text;
    return;
  }
  if (target->is_stream()) {
    file_ = std::move(target->stream);
    return;
  }
  destination_ = target->file.string();
  temporary_ = destination_ + "." + std::to_string(::getpid()) + ".tmp";
  ::unlink(temporary_.c_str());
  file_ = shm::FileDescriptor(
      ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file_.is_open()) {
    note_failure();
    temporary_.clear();
  }
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      destination_(std::move(other.destination_)),
      temporary_(std::exchange(other.temporary_, {})),
      file_(std::move(other.file_)),
      buffer_(std::move(other.buffer_)),
      failure_(std::move(other.failure_)) {}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Result<AtomicFile> AtomicFile::create(const std::filesystem::path& path) {
  AtomicFile file(path);
  if (!file.failure_.empty()) return file.commit().error();
  return file;
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  if (buffer_.size() >= kBufferBytes) flush();
}

Result<void> AtomicFile::commit() {
  flush();
  const bool has_name_to_take = failure_.empty() && !temporary_.empty();
  if (has_name_to_take &&
      (::fsync(file_.number()) != 0 || ::rename(temporary_.c_str(), destination_.c_str()) != 0)) {
    note_failure();
  }
  if (!failure_.empty()) {
    return Error{ErrorClass::kInternal, path_ + ": cannot be written: " + failure_};
  }
  temporary_.clear();
  return {};
}

void AtomicFile::flush() {
  std::span<const std::byte> left(buffer_);
  while (failure_.empty() && !left.empty()) {
    const ssize_t written = ::write(file_.number(), left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      note_failure();
    } else {
      left = left.subspan(static_cast<std::size_t>(written));
    }
  }
  buffer_.clear();
}

void AtomicFile::note_failure() {
  if (failure_.empty()) failure_ = std::strerror(errno);
}

}  // namespace vitrine::engine
