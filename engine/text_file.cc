// SPDX-License-Identifier: Apache-2.0
#include "engine/text_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "engine/file_descriptor.h"

namespace vitrine::engine {
namespace {

std::string reason() { return std::strerror(errno); }

Error write_error(const std::filesystem::path& path) {
  return {ErrorClass::kInternal, path.string() + ": cannot be written: " + reason()};
}

bool write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

Result<std::string> read_text_file(const std::filesystem::path& path, std::size_t max_bytes) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!file.is_open() || ::fstat(file.get(), &status) != 0) {
    return bad_input(path.string() + ": cannot be opened: " + reason());
  }
  if (!S_ISREG(status.st_mode)) return bad_input(path.string() + ": not a regular file");
  if (static_cast<std::uint64_t>(status.st_size) > max_bytes) {
    return bad_input(path.string() + ": " + std::to_string(status.st_size) +
                     " bytes, expected at most " + std::to_string(max_bytes));
  }
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + filled, text.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return bad_input(path.string() + ": cannot be read: " + reason());
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  text.resize(filled);
  return text;
}

Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  // One name per process: a crashed predecessor's leftover goes, and O_EXCL follows no link that
  // somebody else puts there.
  const std::string temporary = path.string() + "." + std::to_string(::getpid()) + ".tmp";
  ::unlink(temporary.c_str());
  const FileDescriptor file(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file.is_open()) return write_error(path);
  const bool done = write_all(file.get(), content) && ::fsync(file.get()) == 0 &&
                    ::rename(temporary.c_str(), path.c_str()) == 0;
  if (done) return {};
  const Error error = write_error(path);
  ::unlink(temporary.c_str());
  return error;
}

}  // namespace vitrine::engine
