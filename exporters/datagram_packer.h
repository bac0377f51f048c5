// SPDX-License-Identifier: Apache-2.0
// Lines into datagrams of whole lines.
//
// Units    bytes.
// Why      1432 bytes pass an Ethernet with a tunnel's headers unfragmented; a receiver reads each
//          datagram alone, so a line must never be torn.
// Threads  pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace vitrine::exporters {

inline constexpr std::size_t kDatagramBytesMax = 1'432;

struct PackedLines {
  std::vector<std::string> datagrams;
  std::size_t too_long = 0;  // units that fit no datagram: left out
};

// A unit is one line, or several joined by line feeds that must arrive together.
PackedLines pack_lines(const std::vector<std::string>& units);

}  // namespace vitrine::exporters
