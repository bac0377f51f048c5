// SPDX-License-Identifier: Apache-2.0
#include "exporters/datagram_packer.h"

namespace vitrine::exporters {

PackedLines pack_lines(const std::vector<std::string>& units) {
  PackedLines packed;
  for (const std::string& unit : units) {
    if (unit.size() > kDatagramBytesMax) {
      ++packed.too_long;
      continue;
    }
    const bool fits = !packed.datagrams.empty() &&
                      packed.datagrams.back().size() + 1 + unit.size() <= kDatagramBytesMax;
    if (fits) {
      packed.datagrams.back() += "\n" + unit;
    } else {
      packed.datagrams.push_back(unit);
    }
  }
  return packed;
}

}  // namespace vitrine::exporters
