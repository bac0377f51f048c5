// SPDX-License-Identifier: Apache-2.0
#include "shm/write_target.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

namespace vitrine::shm {
namespace {

namespace fs = std::filesystem;

constexpr auto kReaderWithin = std::chrono::seconds(10);
constexpr auto kLookEvery = std::chrono::milliseconds(20);

Error failed(int number) { return Error{ErrorKind::kSystem, std::strerror(number)}; }

bool is_same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// The path at the end of the links; the target need not exist. Ends where the kernel would give up.
fs::path follow_links(fs::path path) {
  constexpr int kLinksMax = 40;
  for (int links = 0; links < kLinksMax; ++links) {
    std::error_code not_a_link;
    const fs::path target = fs::read_symlink(path, not_a_link);
    if (not_a_link) return path;
    path = path.parent_path() / target;  // an absolute target replaces all of it
  }
  return path;
}

// Standard output or standard error when one of them is that file already.
FileDescriptor standard_stream(const struct stat& wanted) {
  for (const int number : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat open {};
    if (::fstat(number, &open) != 0 || !is_same_file(open, wanted)) continue;
    return FileDescriptor(::fcntl(number, F_DUPFD_CLOEXEC, 0));
  }
  return {};
}

Result<FileDescriptor> open_stream(const fs::path& path, mode_t mode) {
  const bool is_pipe = S_ISFIFO(mode);
  const int flags =
      O_WRONLY | O_NOCTTY | O_CLOEXEC | (is_pipe ? O_NONBLOCK : 0) | (S_ISREG(mode) ? O_TRUNC : 0);
  const auto end = std::chrono::steady_clock::now() + kReaderWithin;
  FileDescriptor file(::open(path.c_str(), flags));
  while (!file.is_open() && is_pipe && errno == ENXIO) {
    if (std::chrono::steady_clock::now() >= end) {
      return Error{ErrorKind::kSystem, "a pipe that nobody reads"};
    }
    std::this_thread::sleep_for(kLookEvery);
    file = FileDescriptor(::open(path.c_str(), flags));
  }
  if (!file.is_open()) return failed(errno);
  // Only the opening must not block: a slow reader is waited for.
  if (is_pipe && ::fcntl(file.number(), F_SETFL, 0) != 0) return failed(errno);
  return file;
}

}  // namespace

Result<WriteTarget> open_write_target(const fs::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) {
    if (errno != ENOENT) return failed(errno);
    return WriteTarget{follow_links(path), {}};
  }
  if (S_ISDIR(found.st_mode)) return failed(EISDIR);
  if (FileDescriptor standard = standard_stream(found); standard.is_open()) {
    return WriteTarget{{}, std::move(standard)};
  }
  if (S_ISREG(found.st_mode)) {
    // Of a file without a name the links of /proc tell none that leads to it.
    fs::path file = follow_links(path);
    struct stat named {};
    if (::lstat(file.c_str(), &named) == 0 && is_same_file(named, found)) {
      return WriteTarget{std::move(file), {}};
    }
  }
  Result<FileDescriptor> stream = open_stream(path, found.st_mode);
  if (!stream) return stream.error();
  return WriteTarget{{}, std::move(*stream)};
}

std::string file_identity(const fs::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) == 0) {
    return std::to_string(found.st_dev) + ":" + std::to_string(found.st_ino);
  }
  std::error_code ignored;
  return fs::weakly_canonical(fs::absolute(follow_links(path), ignored), ignored).string();
}

}  // namespace vitrine::shm
