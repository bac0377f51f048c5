// SPDX-License-Identifier: Apache-2.0
#include "tools/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "shm/file_descriptor.h"
#include "shm/write_target.h"
#include "tools/output.h"

namespace vitrine::tools {

namespace {

// Writes beside the file and renames. Errors do not name the path.
Result<void> replace_file(const std::filesystem::path& path, std::string_view text) {
  const auto failed = [] { return Error{ExitCode::kFailed, std::strerror(errno)}; };
  std::string temporary = path.string() + ".XXXXXX";
  const shm::FileDescriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file.is_open()) return failed();
  const mode_t mask = ::umask(0);
  ::umask(mask);
  Result<void> written = Output(file.number()).write(text);
  if (written && (::fchmod(file.number(), 0666 & ~mask) != 0 || ::fsync(file.number()) != 0 ||
                  ::rename(temporary.c_str(), path.c_str()) != 0)) {
    written = failed();
  }
  if (!written) ::unlink(temporary.c_str());
  return written;
}

// Nobody is left to read it: here that is an error, since it is the result that was asked for.
Result<void> write_stream(int descriptor, std::string_view text) {
  Output output(descriptor);
  const Result<void> written = output.write(text);
  if (written && output.has_dropped()) return Error{ExitCode::kFailed, std::strerror(EPIPE)};
  return written;
}

}  // namespace

Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view text) {
  const auto failed = [&](const std::string& why) {
    return Error{ExitCode::kFailed, path.string() + ": " + why};
  };
  const shm::Result<shm::WriteTarget> target = shm::open_write_target(path);
  if (!target) return failed(target.error().text);
  const Result<void> written = target->is_stream() ? write_stream(target->stream.number(), text)
                                                   : replace_file(target->file, text);
  return written ? written : failed(written.error().text);
}

}  // namespace vitrine::tools
