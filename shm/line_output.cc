// SPDX-License-Identifier: Apache-2.0
#include "shm/line_output.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace vitrine::shm {
namespace {

constexpr int kPatienceMs = 100;

}  // namespace

void LineOutput::write(std::string_view line) {
  if (lost_ > 0 && has_room() && put(loss_line_(lost_))) lost_ = 0;
  if (lost_ > 0 || !has_room() || !put(line)) ++lost_;
}

bool LineOutput::has_room() const {
  pollfd asked{descriptor_, POLLOUT, 0};
  const int ready = ::poll(&asked, 1, lost_ == 0 ? kPatienceMs : 0);
  return ready == 1 && (asked.revents & POLLOUT) != 0;
}

bool LineOutput::put(std::string_view line) const {
  std::string cut;
  if (line.size() > kLineBytesMax) {
    cut.assign(line.substr(0, kLineBytesMax - 1)).push_back('\n');
    line = cut;
  }
  ssize_t written = -1;
  do {
    written = ::write(descriptor_, line.data(), line.size());
  } while (written < 0 && errno == EINTR);
  return written == static_cast<ssize_t>(line.size());
}

}  // namespace vitrine::shm
