// SPDX-License-Identifier: Apache-2.0
// Last words: a signal that ends the process is written into the segment, with what the struck
// thread had in hand, before the process ends as it would have.
//
// Threads: the handler runs in the struck thread. What it needs of that thread is kept in a
// thread-local that tell_work_in_hand() fills.
// Crash: of the handler itself: the signal's own action is in force again, so the process ends.
// Why: a segment is all that is left of a killed engine; a core file is seldom there.
#pragma once

#include <string>

#include "shm/records.h"
#include "shm/segment_writer.h"

namespace vitrine::engine {

struct WorkInHand {
  shm::Id job;
  shm::Index partition;
  shm::PartitionStage stage{};
};

// Gives the calling thread a name, of 15 bytes at most, for these words and for the tools of the
// system.
void name_this_thread(const std::string& name);
// What the calling thread works at from now on.
void tell_work_in_hand(const WorkInHand& work) noexcept;

// From now on signals that end the process (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) leave last
// words where a LastWordsPlace says, if there is one. For programs, before they publish a segment:
// the handler of lost pages (shm/lost_page_writer.h) then passes on what is not its own.
void install_last_words();

// Where last words go while this lives; one at a time in a process, further ones are ignored.
class LastWordsPlace {
 public:
  explicit LastWordsPlace(shm::SegmentWriter& writer);
  ~LastWordsPlace();
  LastWordsPlace(const LastWordsPlace&) = delete;
  LastWordsPlace& operator=(const LastWordsPlace&) = delete;

 private:
  shm::SegmentWriter& writer_;
};

}  // namespace vitrine::engine
