// SPDX-License-Identifier: Apache-2.0
#include "engine/text_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>

#include "engine/atomic_file.h"
#include "shm/file_descriptor.h"

namespace vitrine::engine {
namespace {

std::string reason() { return std::strerror(errno); }

}  // namespace

Result<std::string> read_text_file(const std::filesystem::path& path, std::size_t max_bytes) {
  const shm::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!file.is_open() || ::fstat(file.number(), &status) != 0) {
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
    const ssize_t got = ::read(file.number(), text.data() + filled, text.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return bad_input(path.string() + ": cannot be read: " + reason());
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  text.resize(filled);
  return text;
}

Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  auto file = AtomicFile::create(path);
  if (!file) return file.error();
  file->write(std::as_bytes(std::span(content)));
  return file->commit();
}

}  // namespace vitrine::engine
