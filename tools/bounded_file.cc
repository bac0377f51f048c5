// SPDX-License-Identifier: Apache-2.0
#include "tools/bounded_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "shm/file_descriptor.h"

namespace vitrine::tools {

std::optional<std::string> read_bounded(const std::filesystem::path& path, std::size_t limit) {
  const shm::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) return std::nullopt;
  constexpr std::size_t kPortion = 65'536;
  std::string text;
  while (text.size() < limit) {
    const std::size_t before = text.size();
    text.resize(std::min(limit, before + kPortion));
    const ssize_t count = ::read(file.number(), text.data() + before, text.size() - before);
    text.resize(before + static_cast<std::size_t>(count > 0 ? count : 0));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) break;
  }
  return text;
}

}  // namespace vitrine::tools
