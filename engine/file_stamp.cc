// SPDX-License-Identifier: Apache-2.0
#include "engine/file_stamp.h"

#include <sys/stat.h>

namespace vitrine::engine {
namespace {

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

FileStamp stamp_of(const struct stat& status) {
  return {static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino),
          static_cast<std::uint64_t>(status.st_size), nanoseconds(status.st_mtim),
          nanoseconds(status.st_ctim)};
}

}  // namespace

FileStamp FileStamp::of(const std::filesystem::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? stamp_of(status) : FileStamp{};
}

FileStamp FileStamp::of(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 ? stamp_of(status) : FileStamp{};
}

}  // namespace vitrine::engine
