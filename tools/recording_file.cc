// SPDX-License-Identifier: Apache-2.0
#include "tools/recording_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "shm/write_target.h"

namespace vitrine::tools {

Result<RecordingFile> RecordingFile::create(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  if (file >= 0) return RecordingFile(shm::FileDescriptor(file), path);
  if (errno != EEXIST) return Error{ExitCode::kFailed, path.string() + ": " + std::strerror(errno)};
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) {
    return Error{ExitCode::kUsage,
                 path.string() + ": is there already; a recording never overwrites a file"};
  }
  shm::Result<shm::WriteTarget> target = shm::open_write_target(path);
  if (!target) return Error{ExitCode::kFailed, path.string() + ": " + target.error().text};
  if (!target->is_stream()) {
    return Error{ExitCode::kFailed, path.string() + ": is a link to no file"};
  }
  return RecordingFile(std::move(target->stream), path);
}

Result<void> RecordingFile::append(std::span<const std::byte> chunk) {
  auto rest = chunk;
  while (!rest.empty()) {
    const ssize_t written = ::write(file_.number(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const std::string why = std::strerror(errno);
      // Of a pipe nothing can be taken back; its reader drops what is not whole.
      [[maybe_unused]] const int cut = ::ftruncate(file_.number(), static_cast<off_t>(size_bytes_));
      return Error{ExitCode::kFailed, path_.string() + ": " + why + "; the " +
                                          std::to_string(size_bytes_) +
                                          " bytes recorded before are whole"};
    }
    rest = rest.subspan(static_cast<std::size_t>(written));
  }
  size_bytes_ += chunk.size();
  return {};
}

}  // namespace vitrine::tools
