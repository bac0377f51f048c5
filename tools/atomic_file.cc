// SPDX-License-Identifier: Apache-2.0
#include "tools/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "shm/file_descriptor.h"
#include "tools/output.h"

namespace vitrine::tools {

Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view text) {
  const auto failed = [&](const std::string& why) {
    return Error{ExitCode::kFailed, path.string() + ": " + why};
  };
  std::string temporary = path.string() + ".XXXXXX";
  const shm::FileDescriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file.is_open()) return failed(std::strerror(errno));
  const mode_t mask = ::umask(0);
  ::umask(mask);
  Result<void> written = Output(file.number()).write(text);
  if (!written) {
    written = failed(written.error().text);
  } else if (::fchmod(file.number(), 0666 & ~mask) != 0 || ::fsync(file.number()) != 0 ||
             ::rename(temporary.c_str(), path.c_str()) != 0) {
    written = failed(std::strerror(errno));
  }
  if (!written) ::unlink(temporary.c_str());
  return written;
}

}  // namespace vitrine::tools
