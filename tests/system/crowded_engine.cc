// SPDX-License-Identifier: Apache-2.0
// A process that publishes tests/exporters/crowded_segment.h and beats until its input ends:
// crowded_engine PATH.
#include <poll.h>

#include <iostream>

#include "tests/exporters/crowded_segment.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto writer = vitrine::shm::SegmentWriter::publish_named(
      vitrine::exporters::testing::crowded_segment(argv[1]));
  if (!writer) {
    std::cerr << writer.error().text << "\n";
    return 1;
  }
  vitrine::exporters::testing::fill_crowded(*writer);
  std::cout << "published" << std::endl;
  pollfd input{0, POLLIN, 0};
  while (poll(&input, 1, 50) == 0) writer->beat();
  return 0;
}
