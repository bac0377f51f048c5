// SPDX-License-Identifier: Apache-2.0
// The checks of `vitrine doctor`, one group per file doctor_NAME.cc.
//
// Why   each check judges facts that another function read, so that tests hand it hosts that
//       they are not on.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/doctor_finding.h"
#include "tools/instance_list.h"

namespace vitrine::tools {

// A folder in which segments are published (doctor_place.cc).
struct PlaceFacts {
  std::filesystem::path path;
  bool is_there = false;
  bool is_in_memory = false;  // tmpfs or ramfs
  bool has_segments = false;
  std::uint64_t free_bytes = 0;
  std::uint64_t total_bytes = 0;  // zero: not bounded
  mode_t mode = 0;
};
PlaceFacts place_facts(const std::filesystem::path& path,
                       const std::vector<shm::SegmentName>& segments);
Findings check_place(const PlaceFacts& place);

// The file behind a segment's name (doctor_file.cc).
struct FileFacts {
  std::filesystem::path path;
  mode_t mode = 0;
  uid_t owner = 0;
  nlink_t links = 1;
  ino_t inode = 0;
  dev_t device = 0;
};
std::optional<FileFacts> file_facts(const std::filesystem::path& path);
Findings check_file(const FileFacts& file, const ListedInstance& listed);

// The instance; with its path when that is in another mount namespace.
std::string about_of(const ListedInstance& listed);
bool is_foreign(const ListedInstance& listed);

// Layout version, lock, heartbeat, state (doctor_engine.cc).
Findings check_engine(const ListedInstance& listed);
// Whether the pid of the segment means the same process here.
bool shares_pid_namespace(const shm::SegmentIdentity& identity);

// The API's socket and its folder (doctor_socket.cc).
struct SocketFacts {
  std::filesystem::path path;  // empty: the engine has none
  std::string problem;         // why nobody answers; empty when the engine did
  mode_t folder_mode = 0;
  bool is_ours_to_ask = false;  // root's or the engine's own user asks
};
SocketFacts socket_facts(const shm::SegmentIdentity& identity);
Findings check_socket(const std::string& about, const SocketFacts& socket);

// systemd removes the shared memory of a user who has logged out (doctor_remove_ipc.cc).
struct LoginFacts {
  bool has_systemd = false;
  bool removes_ipc = true;  // what systemd does unless told otherwise
  uid_t user = 0;
  bool is_system_user = false;  // spared by systemd
  std::string user_name;
  bool lingers = false;
};
// RemoveIPC as the last of these texts of logind.conf says, in their order of precedence.
bool removes_ipc(const std::vector<std::string>& configuration_texts);
LoginFacts login_facts(uid_t user);
Findings check_remove_ipc(const std::string& about, const LoginFacts& login);

// Files that nobody needs (doctor_leftovers.cc).
struct DeadSegment {
  shm::SegmentName name;
  uid_t owner;
};
// Those that could be read: anybody can make files with such names.
Findings check_dead_segments(const std::vector<DeadSegment>& segments);
// Locks in `folder` that no engine holds and that stand beside no segment.
std::vector<std::filesystem::path> stale_locks(const std::filesystem::path& folder);
Findings check_stale_locks(const std::filesystem::path& folder,
                           const std::vector<std::filesystem::path>& locks);

// The control group's limit (doctor_memory.cc).
struct MemoryFacts {
  std::uint64_t limit_bytes = 0;  // zero: none
  std::uint64_t budget_bytes = 0;
  std::uint64_t segment_bytes = 0;
};
// The least memory.max of the groups around a process, by its /proc/PID/cgroup; zero: none.
std::uint64_t memory_limit_bytes(const std::string& cgroup_text,
                                 const std::filesystem::path& cgroup_root);
MemoryFacts memory_facts(const shm::Observation& observation);
Findings check_memory(const std::string& about, const MemoryFacts& memory);

// Who reads a segment: best effort, of the processes that we may look at (doctor_readers.cc).
struct SegmentReaderProcess {
  std::uint64_t pid;
  std::string name;
};
struct MappedFile {
  dev_t device;
  ino_t inode;
  bool is_writable;  // the engine's own mapping
};
std::vector<MappedFile> mapped_files(const std::string& maps_text);
std::vector<SegmentReaderProcess> readers_of(const FileFacts& file);
Findings note_readers(const std::string& about, const std::vector<SegmentReaderProcess>& readers);

// Segments and their folders in other mount namespaces, as containers have (doctor_mounts.cc).
struct ForeignPlaces {
  std::vector<std::filesystem::path> folders;
  std::vector<shm::SegmentName> segments;
};
ForeignPlaces foreign_places();

}  // namespace vitrine::tools
