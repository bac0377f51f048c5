// SPDX-License-Identifier: Apache-2.0
#include "tools/output.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace vitrine::tools {

Result<void> Output::write(std::string_view text) {
  while (!text.empty() && !is_closed_) {
    const ssize_t written = ::write(descriptor_, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      is_closed_ = true;
    } else if (errno != EINTR) {
      return Error{ExitCode::kFailed, std::string("writing the output: ") + std::strerror(errno)};
    }
  }
  return {};
}

bool Output::is_ready() const {
  pollfd state{descriptor_, POLLOUT, 0};
  return ::poll(&state, 1, 0) == 1;
}

bool Output::is_closed() {
  pollfd state{descriptor_, 0, 0};
  if (::poll(&state, 1, 0) == 1 && (state.revents & POLLERR) != 0) is_closed_ = true;
  return is_closed_;
}

}  // namespace vitrine::tools
