// SPDX-License-Identifier: Apache-2.0
// A reader that locks what it reads: nobody takes it for an engine, and no engine is kept out.
#include <fcntl.h>
#include <signal.h>

#include <catch2/catch.hpp>

#include "shm/attachment.h"
#include "shm/file_descriptor.h"
#include "tests/system/daemon_process.h"

namespace vitrine::system_test {
namespace {

using shm::VerdictWord;

// A read lock on the whole of a segment, held as long as this lives.
class ReadLock {
 public:
  explicit ReadLock(const std::filesystem::path& path)
      : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    REQUIRE(file_.is_open());
    struct flock whole_file {};
    whole_file.l_type = F_RDLCK;
    whole_file.l_whence = SEEK_SET;
    is_held_ = ::fcntl(file_.number(), F_OFD_SETLK, &whole_file) == 0;
  }
  bool is_held() const { return is_held_; }

 private:
  shm::FileDescriptor file_;
  bool is_held_ = false;
};

VerdictWord verdict_on(const Site& site) {
  shm::Attachment attachment(shm::Target{.path = site.segment()});
  return attachment.observe_settled().verdict.word;
}

TEST_CASE("a reader's lock on the segment changes neither the verdict nor the next start",
          "[E16]") {
  const Site site;
  std::optional<ReadLock> before;
  {
    RunningDaemon daemon(site);
    before.emplace(site.segment());
    CHECK_FALSE(before->is_held());  // the engine's own goes before
    CHECK(verdict_on(site) == VerdictWord::kIdle);
    CHECK(final_state(site, submit(site, 1)) == "done");
    daemon.signal(SIGKILL);
    CHECK(daemon.exit_code() == 128 + SIGKILL);
  }
  const ReadLock after(site.segment());
  CHECK(after.is_held());
  CHECK(verdict_on(site) == VerdictWord::kDead);
  RunningDaemon next(site);
  CHECK(verdict_on(site) == VerdictWord::kIdle);
  CHECK(final_state(site, submit(site, 1)) == "done");
  DaemonProcess third(site.arguments(), site.scratch / "third.log");
  CHECK(third.exit_code() == 3);
}

}  // namespace
}  // namespace vitrine::system_test
