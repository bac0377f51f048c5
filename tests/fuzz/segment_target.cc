// SPDX-License-Identifier: Apache-2.0
// Fuzz target: damaged segments, read from memory with everything that is made of them.
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/damaged_segment.h"
#include "tests/shm/read_everything.h"

const std::vector<vitrine::fuzz::Base>& vitrine::fuzz::bases() {
  static const std::vector<Base> kBases = segment_bases();
  return kBases;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes = vitrine::fuzz::damaged(vitrine::fuzz::bases(), {data, size});
  auto reader =
      vitrine::shm::SegmentReader::open_bytes(std::as_bytes(std::span(bytes)), "damaged segment");
  if (!reader) {
    const auto kind = reader.error().kind;
    if (kind == vitrine::shm::ErrorKind::kCorrupt ||
        kind == vitrine::shm::ErrorKind::kUnsupported) {
      return 0;
    }
    std::fprintf(stderr, "refused with the wrong kind: %s\n", reader.error().text.c_str());
    std::abort();
  }
  // Documents cost more than all the rest: most inputs go without.
  vitrine::shm::Observation observation;
  const auto fault = (data[0] & vitrine::fuzz::kStateOnly) != 0
                         ? vitrine::shm::fault_of_state(*reader, observation)
                         : vitrine::shm::fault_of_reading(*reader);
  if (fault) {
    std::fprintf(stderr, "broken promise: %s\n", fault->c_str());
    std::abort();
  }
  return 0;
}
