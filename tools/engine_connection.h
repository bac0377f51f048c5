// SPDX-License-Identifier: Apache-2.0
// EngineConnection: bytes to and from the engine's Unix socket.
//
// Threads  one at a time.
// Why      the answer may be as late as an upload is long, so what has a limit is silence: the time
//          in which no byte moves, in either direction.
#pragma once

#include <sys/un.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "shm/file_descriptor.h"
#include "tools/error.h"

namespace vitrine::tools {

class EngineConnection {
 public:
  // Connects within 5 s. Errors: kNoEngine when nothing answers at the socket or it is not for this
  // user; kTimeout.
  static Result<EngineConnection> open(const std::filesystem::path& socket_path,
                                       std::uint64_t silence_ns);

  // Sends all of `bytes`; false when the engine answers or leaves before it has taken them. Errors:
  // kTimeout.
  [[nodiscard]] Result<bool> send(std::string_view bytes);
  // How much has come; 0 when nothing more will. Errors: kTimeout.
  [[nodiscard]] Result<std::size_t> receive(std::span<char> room);

 private:
  EngineConnection(shm::FileDescriptor socket, std::string at, std::uint64_t silence_ns);
  // Those of the poll(2) `events` that are there.
  Result<short> await(short events) const;

  shm::FileDescriptor socket_;
  std::string at_;  // for errors
  std::uint64_t silence_ns_;
};

// Nothing when the path is longer than an address holds.
std::optional<sockaddr_un> unix_address(const std::filesystem::path& path);

}  // namespace vitrine::tools
