// SPDX-License-Identifier: Apache-2.0
#include "shm/line_output.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace vitrine::shm {
namespace {

constexpr int kPatienceMs = 100;

// A description of our own that never blocks; none for files, which never do, and for what cannot
// be opened again.
FileDescriptor open_again(int descriptor) {
  struct stat found {};
  if (::fstat(descriptor, &found) != 0) return {};
  if (!S_ISFIFO(found.st_mode) && !S_ISCHR(found.st_mode)) return {};
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  return FileDescriptor(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

}  // namespace

LineOutput::LineOutput(int descriptor, std::function<std::string(std::uint64_t)> loss_line)
    : own_(open_again(descriptor)),
      descriptor_(own_.is_open() ? own_.number() : descriptor),
      loss_line_(std::move(loss_line)) {}

void LineOutput::write(std::string_view line) {
  if (lost_ > 0 && has_room() && put(loss_line_(lost_))) lost_ = 0;
  if (lost_ > 0 || !has_room() || !put(line)) ++lost_;
}

bool LineOutput::has_room() const {
  pollfd asked{descriptor_, POLLOUT, 0};
  const int ready = ::poll(&asked, 1, lost_ == 0 ? kPatienceMs : 0);
  return ready == 1 && (asked.revents & POLLOUT) != 0;
}

bool LineOutput::put(std::string_view line) {
  rest_.erase(0, write_some(rest_));
  if (!rest_.empty()) return false;
  std::string cut;
  if (line.size() > kLineBytesMax) {
    cut.assign(line.substr(0, kLineBytesMax - 1)).push_back('\n');
    line = cut;
  }
  const std::size_t taken = write_some(line);
  if (taken > 0) rest_ = line.substr(taken);
  return taken > 0;
}

std::size_t LineOutput::write_some(std::string_view bytes) const {
  if (bytes.empty()) return 0;
  ssize_t written = -1;
  do {
    written = ::write(descriptor_, bytes.data(), bytes.size());
  } while (written < 0 && errno == EINTR);
  return static_cast<std::size_t>(std::max<ssize_t>(written, 0));
}

}  // namespace vitrine::shm
