// SPDX-License-Identifier: Apache-2.0
// A socket that listens, bound before the server says that it is ready.
//
// Crash   a Unix socket's name stays when the process is killed; the next one to bind it removes
//         the name if nobody answers there any more.
#pragma once

#include "exporters/listen_address.h"

namespace vitrine::exporters {

class ListenSocket {
 public:
  // Binds and listens, non-blocking and not inherited. kUsage when the address is taken or is not
  // one of this machine; the text names it.
  [[nodiscard]] static Result<ListenSocket> bind(const ListenAddress& address);

  ListenSocket(ListenSocket&& other) noexcept;
  ListenSocket& operator=(ListenSocket&&) = delete;
  ~ListenSocket();  // closes, and removes a Unix socket's name

  // The address really bound: port 0 has become a number.
  const ListenAddress& address() const { return address_; }
  // Gives the descriptor to a server that closes it; the name of a Unix socket stays ours.
  int release();

 private:
  ListenSocket(int descriptor, ListenAddress address);

  int descriptor_;
  ListenAddress address_;
  bool owns_name_ = false;
};

// True when this machine has no such address at all (no IPv6, for one), as opposed to taken.
[[nodiscard]] bool has_address(const ListenAddress& address);

}  // namespace vitrine::exporters
