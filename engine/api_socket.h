// SPDX-License-Identifier: Apache-2.0
// The Unix socket of the API: made, protected, and taken away again.
//
// Why: only a local user of the right group may submit work; there is no other door.
#pragma once

#include <filesystem>
#include <string>

#include "engine/start_failure.h"
#include "shm/file_descriptor.h"
#include "shm/owner_lock_writer.h"

namespace vitrine::engine {

class ApiSocket {
 public:
  // Binds and listens with mode 0660 and, when given, `group`. A leftover, on which nobody listens,
  // is replaced. kInUse names who listens; kUsage: a path or group that cannot be; kRuntime: the
  // system refuses.
  [[nodiscard]] static StartResult<ApiSocket> listen(const std::filesystem::path& path,
                                                     const std::string& group);
  ApiSocket(ApiSocket&&) noexcept;
  ApiSocket& operator=(ApiSocket&&) = delete;
  // Removes the name if it still leads here.
  ~ApiSocket();

  [[nodiscard]] int descriptor() const { return socket_.number(); }

 private:
  ApiSocket(std::filesystem::path path, shm::OwnerLock lock, shm::FileDescriptor socket)
      : path_(std::move(path)), lock_(std::move(lock)), socket_(std::move(socket)) {}

  std::filesystem::path path_;
  shm::OwnerLock lock_;  // of the path: of two engines with one leftover only one replaces it
  shm::FileDescriptor socket_;
  std::uint64_t inode_ = 0;
};

}  // namespace vitrine::engine
