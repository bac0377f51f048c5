// SPDX-License-Identifier: Apache-2.0
// A reader process for tests: `segment_watch SEGMENT` takes snapshots until its input ends, and
// then says how many and what was wrong with them.
//
// Layout: a line "attached" after the first snapshot, at the end one line for each violation of
// I1 to I8, then "snapshots N".
// Why: what another process sees is what users see, so the invariants are checked from there.
#include <poll.h>
#include <unistd.h>

#include <iostream>
#include <set>
#include <string>

#include "shm/invariants.h"
#include "shm/segment_reader.h"

namespace {

constexpr std::size_t kViolationsKept = 20;
constexpr int kLookEveryMs = 1;

// Waits for the next look; false once the input has ended.
bool goes_on() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return ::poll(&input, 1, kLookEveryMs) == 0;
}

int watch(const std::string& segment) {
  auto reader = vitrine::shm::SegmentReader::attach(segment);
  if (!reader) {
    std::cout << reader.error().text << std::endl;
    return 1;
  }
  std::set<std::string> violations;
  vitrine::shm::Snapshot now;
  vitrine::shm::Snapshot before;
  std::uint64_t snapshots = 0;
  for (bool is_last = false; !is_last;) {
    is_last = snapshots > 0 && !goes_on();
    if (const auto taken = reader->snapshot(now); !taken) violations.insert(taken.error().text);
    for (std::string& found : check_invariants(now, snapshots == 0 ? nullptr : &before)) {
      if (violations.size() < kViolationsKept) violations.insert(std::move(found));
    }
    std::swap(now, before);
    if (++snapshots == 1) std::cout << "attached" << std::endl;
  }
  for (const std::string& violation : violations) std::cout << violation << '\n';
  std::cout << "snapshots " << snapshots << std::endl;
  return violations.empty() ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) {
    std::cerr << "usage: segment_watch SEGMENT\n";
    return 2;
  }
  return watch(words[1]);
}
