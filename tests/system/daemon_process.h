// SPDX-License-Identifier: Apache-2.0
// A vitrined of a test's own: started, watched, signalled, and gone when the test ends.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "shm/snapshot.h"
#include "tests/engine/api_client.h"
#include "tests/scratch_folder.h"

namespace vitrine::system_test {

using engine::testing::ApiAnswer;
using engine::testing::ApiClient;

// The folders and names that incarnations of one instance share. The newest site is where this
// process' engines have their runtime directory.
struct Site {
  Site();

  SharedScratchFolder scratch;

  std::filesystem::path segment() const { return scratch / "system.segment"; }
  std::filesystem::path socket() const { return scratch / "api.sock"; }
  std::filesystem::path spool() const { return scratch / "spool"; }
  std::filesystem::path instance_lock() const { return scratch / "vitrine/system.lock"; }
  // With the committed circuit `demo` (bn128); a flag of `more` goes before ours.
  std::vector<std::string> arguments(const std::vector<std::string>& more = {}) const;
};

class DaemonProcess {
 public:
  // Starts `command` (vitrined by default), its standard error going to `log`.
  DaemonProcess(const std::vector<std::string>& arguments, std::filesystem::path log,
                const std::vector<std::string>& command = {});
  DaemonProcess(const DaemonProcess&) = delete;
  DaemonProcess& operator=(const DaemonProcess&) = delete;
  // Killed if it still runs.
  ~DaemonProcess();

  pid_t pid() const { return pid_; }
  void signal(int number) const;
  // Waits for its end: the exit code, or 128 + the signal.
  int exit_code();
  bool is_running();
  std::string log() const;

 private:
  void await_end(int wait_flags);

  std::filesystem::path log_;
  pid_t pid_ = -1;
  int exit_code_ = -1;
};

// Starts an engine at the site and waits until it listens.
class RunningDaemon : public DaemonProcess {
 public:
  explicit RunningDaemon(const Site& site, const std::vector<std::string>& more = {},
                         const std::vector<std::string>& command = {});
};

// Until the condition holds; fails the test after a minute, or when `daemon` has ended meanwhile.
void wait_until(DaemonProcess& daemon, const std::function<bool()>& condition);

// A snapshot of the segment for which `ready` holds.
shm::Snapshot snapshot_when(DaemonProcess& daemon, const std::filesystem::path& segment,
                            const std::function<bool(const shm::Snapshot&)>& ready);

// Submits `partitions` demo witnesses; the job's id.
std::string submit(const Site& site, unsigned partitions);
// Waits for the job's end; its state.
std::string final_state(const Site& site, const std::string& job);

}  // namespace vitrine::system_test
