// SPDX-License-Identifier: Apache-2.0
// Datagrams to a receiver that may be away, move or have no name yet.
//
// Threads  one at a time; a thread of its own resolves the name, every 60 s, and every 5 s while
//          that fails, so no send waits for a name server.
// Cost     a send never blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "exporters/error.h"

namespace vitrine::exporters {

struct DatagramTarget {
  std::string unix_path;  // empty for UDP
  std::string host;
  std::string port;
};

// udp://HOST:PORT, udp://[IPV6]:PORT or unix:/PATH. kUsage names the text.
[[nodiscard]] Result<DatagramTarget> parse_datagram_target(const std::string& text);

class DatagramSocket {
 public:
  explicit DatagramSocket(const DatagramTarget& target);
  ~DatagramSocket();
  DatagramSocket(const DatagramSocket&) = delete;
  DatagramSocket& operator=(const DatagramSocket&) = delete;

  // Whether the name has been resolved; until then nothing can be sent.
  bool has_address() const;

  // Nothing when it was sent at the first try; else why not. After a refusal that an earlier
  // datagram brought, it is sent once more.
  std::optional<std::string> send(std::string_view datagram);

  struct Addresses;

 private:
  bool open();

  std::shared_ptr<Addresses> addresses_;
  std::uint64_t opened_version_ = 0;
  int descriptor_ = -1;
};

}  // namespace vitrine::exporters
