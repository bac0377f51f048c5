// SPDX-License-Identifier: Apache-2.0
#include "shm/recording_format.h"

#include <boost/crc.hpp>

namespace vitrine::shm {

std::uint32_t checksum_of(const ChunkHeader& header, const void* payload) {
  boost::crc_32_type sum;
  sum.process_bytes(&header.kind, sizeof(header.kind) + sizeof(header.payload_bytes));
  sum.process_bytes(payload, header.payload_bytes);
  return sum.checksum();
}

}  // namespace vitrine::shm
