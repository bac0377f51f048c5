// SPDX-License-Identifier: Apache-2.0
// What shm/vitrine.h says about itself.
#include "shm/vitrine.h"
#include "shm/words.h"

extern "C" {

const char* vitrine_version(void) { return VITRINE_VERSION; }

const char* vitrine_code_text(int code) {
  switch (code) {
    case VITRINE_OK:
      return "done";
    case VITRINE_BAD_ARGUMENT:
      return "an argument breaks a rule";
    case VITRINE_NO_SUCH_ITEM:
      return "there is no such item";
    case VITRINE_EXISTS:
      return "the number is in use";
    case VITRINE_WRONG_ORDER:
      return "the item is not in a state from which this can follow";
    case VITRINE_FULL:
      return "no row is free";
    case VITRINE_OVER_BUDGET:
      return "more bytes than the budget has left";
    case VITRINE_BUSY:
      return "the worker has another partition";
    case VITRINE_IN_USE:
      return "another live engine has the instance";
    case VITRINE_NO_SHARED_MEMORY:
      return "no shared memory: the records go to private memory";
    case VITRINE_NO_MEMORY:
      return "no memory";
    case VITRINE_ABSENT:
      return "it is not there";
    case VITRINE_UNREADABLE:
      return "the segment may not be read";
    case VITRINE_CORRUPT:
      return "the segment is damaged";
    case VITRINE_UNSUPPORTED:
      return "the segment is of another version";
    case VITRINE_SYSTEM:
      return "the system refused";
    default:
      return "no such code";
  }
}

// The words lie in literals, which end in a zero byte.
const char* vitrine_event_word(uint32_t type) {
  return vitrine::shm::word_of(type, vitrine::shm::WordList<vitrine::shm::EventType>::kWords)
      .data();
}

}  // extern "C"
