// SPDX-License-Identifier: Apache-2.0
#include "shm/liveness.h"

#include <fcntl.h>
#include <sys/stat.h>

namespace vitrine::shm {

bool is_write_locked(const FileDescriptor& file) {
  struct flock whole_file {};
  whole_file.l_type = F_RDLCK;
  whole_file.l_whence = SEEK_SET;
  return ::fcntl(file.number(), F_OFD_GETLK, &whole_file) == 0 && whole_file.l_type != F_UNLCK;
}

Liveness probe_liveness(const OpenedFile& opened, const std::filesystem::path& path) {
  struct stat named {};
  Liveness liveness;
  liveness.lock_held = is_write_locked(opened.file);
  liveness.name_linked = ::lstat(path.c_str(), &named) == 0 && named.st_ino == opened.inode &&
                         named.st_dev == opened.device;
  return liveness;
}

}  // namespace vitrine::shm
