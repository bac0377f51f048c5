// SPDX-License-Identifier: Apache-2.0
#include "tools/dead_segments.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "shm/file_descriptor.h"
#include "shm/liveness.h"
#include "shm/segment_reader.h"
#include "tools/size_text.h"

namespace vitrine::tools {
namespace {

using Outcome = CollectedSegment::Outcome;

CollectedSegment kept(const shm::SegmentName& name, std::string reason) {
  return {name.path, Outcome::kKept, std::move(reason)};
}

// True while the name leads to this very file.
bool leads_to(const std::filesystem::path& path, const shm::FileDescriptor& file) {
  struct stat named {};
  struct stat own {};
  return ::lstat(path.c_str(), &named) == 0 && ::fstat(file.number(), &own) == 0 &&
         named.st_ino == own.st_ino && named.st_dev == own.st_dev;
}

// The lock of the segment's instance, held until it is destroyed: no engine can start meanwhile.
struct HeldInstance {
  shm::FileDescriptor file;
  std::string problem;  // why it is not held
};

// The lock's file is made only for oneself: root's would shut out its owner.
HeldInstance hold_instance(const std::filesystem::path& lock, uid_t owner) {
  const int create = owner == geteuid() ? O_CREAT : 0;
  HeldInstance held{
      shm::FileDescriptor(::open(
          lock.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | create, S_IRUSR | S_IWUSR)),
      ""};
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (!held.file.is_open()) {
    held.problem = lock.string() + ": " + std::strerror(errno);
  } else if (::fcntl(held.file.number(), F_OFD_SETLK, &whole) != 0) {
    held.problem = "its instance is in use";
  } else if (!leads_to(lock, held.file)) {
    // Between open and lock somebody removed the file: an engine may have a lock of that name.
    held.problem = "its instance is starting or ending";
  }
  return held;
}

CollectedSegment removed(const shm::SegmentName& name, const shm::SegmentIdentity& identity,
                         Removal removal) {
  if (removal == Removal::kRemove && ::unlink(name.path.c_str()) != 0) {
    return {name.path, Outcome::kFailed, std::strerror(errno)};
  }
  return {name.path, Outcome::kRemoved,
          "its engine, instance " + identity.instance + ", is gone; " +
              size_text(identity.total_bytes)};
}

// A name that an engine may want again goes with its lock, which would otherwise be left alone.
CollectedSegment remove_current(const shm::SegmentName& name, const shm::SegmentReader& reader,
                                uid_t owner) {
  const std::filesystem::path lock = shm::lock_path_of(name.path);
  const HeldInstance held = hold_instance(lock, owner);
  if (!held.problem.empty()) return kept(name, held.problem);
  if (!reader.liveness().name_linked) return kept(name, "a new engine has the name");
  CollectedSegment segment = removed(name, reader.identity(), Removal::kRemove);
  if (segment.outcome == Outcome::kRemoved) ::unlink(lock.c_str());
  return segment;
}

// Asks without making a lock: what is not there is held by nobody, what cannot be asked is.
bool is_instance_held(const std::filesystem::path& lock) {
  const shm::FileDescriptor file(
      ::open(lock.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  return file.is_open() ? shm::is_write_locked(file) : errno != ENOENT;
}

CollectedSegment collect(const shm::SegmentName& name, Owners owners, Removal removal,
                         shm::AttachOptions options) {
  struct stat status {};
  if (::lstat(name.path.c_str(), &status) != 0) return kept(name, std::strerror(errno));
  if (status.st_uid != geteuid() && owners == Owners::kSelf) {
    return kept(name, "belongs to user " + std::to_string(status.st_uid));
  }
  options.owner = status.st_uid;
  const auto reader = shm::SegmentReader::attach(name.path, options);
  if (!reader) return kept(name, reader.error().text);
  if (reader->liveness().lock_held) return kept(name, "its engine lives");
  // A dead name is never given to an engine again.
  if (name.named_dead) return removed(name, reader->identity(), removal);
  if (removal == Removal::kRemove) return remove_current(name, *reader, status.st_uid);
  const bool is_held = is_instance_held(shm::lock_path_of(name.path));
  return is_held ? kept(name, "its instance is in use")
                 : removed(name, reader->identity(), removal);
}

}  // namespace

std::vector<CollectedSegment> collect_dead_segments(const std::vector<shm::SegmentName>& names,
                                                    Owners owners, Removal removal,
                                                    const shm::AttachOptions& options) {
  std::vector<CollectedSegment> segments;
  for (const shm::SegmentName& name : names) {
    segments.push_back(collect(name, owners, removal, options));
  }
  return segments;
}

}  // namespace vitrine::tools
