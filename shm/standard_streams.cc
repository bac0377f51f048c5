// SPDX-License-Identifier: Apache-2.0
#include "shm/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <initializer_list>

namespace vitrine::shm {

void occupy_standard_streams() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(number, F_GETFD) >= 0) continue;
    // The lowest free number is this one. The wrong way round, so that its use stays an error.
    (void)::open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace vitrine::shm
