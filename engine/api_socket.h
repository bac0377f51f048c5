// SPDX-License-Identifier: Apache-2.0
// The Unix socket of the API: made, protected, and taken away again.
//
// Why: only a local user of the right group may submit work; there is no other door.
#pragma once

#include <filesystem>
#include <string>

#include "engine/error.h"
#include "shm/file_descriptor.h"

namespace vitrine::engine {

class ApiSocket {
 public:
  // Binds and listens with mode 0660 and, when given, `group`. A leftover of a dead engine is
  // replaced. Requires: the instance is ours. kUsage for a path or group that cannot be, kInternal
  // when the system refuses.
  [[nodiscard]] static Result<ApiSocket> listen(const std::filesystem::path& path,
                                                const std::string& group);
  ApiSocket(ApiSocket&&) noexcept;
  ApiSocket& operator=(ApiSocket&&) = delete;
  // Removes the name if it still leads here.
  ~ApiSocket();

  [[nodiscard]] int descriptor() const { return socket_.number(); }

 private:
  ApiSocket(std::filesystem::path path, shm::FileDescriptor socket)
      : path_(std::move(path)), socket_(std::move(socket)) {}

  std::filesystem::path path_;
  shm::FileDescriptor socket_;
  std::uint64_t inode_ = 0;
};

}  // namespace vitrine::engine
