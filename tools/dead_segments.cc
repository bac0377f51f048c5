// SPDX-License-Identifier: Apache-2.0
#include "tools/dead_segments.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "shm/discovery.h"
#include "shm/file_descriptor.h"
#include "shm/segment_reader.h"
#include "tools/size_text.h"

namespace vitrine::tools {
namespace {

using Outcome = CollectedSegment::Outcome;

CollectedSegment kept(const shm::SegmentName& name, std::string reason) {
  return {name.path, Outcome::kKept, std::move(reason)};
}

// The lock of the segment's instance, held until the descriptor closes; an invalid descriptor when
// an engine has it. The lock's file is made only for oneself: root's would shut out its owner.
shm::FileDescriptor hold_instance(const std::filesystem::path& segment, uid_t owner) {
  const int create = owner == geteuid() ? O_CREAT : 0;
  shm::FileDescriptor file(::open(shm::lock_path_of(segment).c_str(),
                                  O_RDWR | O_CLOEXEC | O_NOFOLLOW | create, S_IRUSR | S_IWUSR));
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (!file.is_open() || fcntl(file.number(), F_OFD_SETLK, &whole) != 0) return {};
  return file;
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
  const shm::FileDescriptor instance = hold_instance(name.path, status.st_uid);
  if (!instance.is_open()) return kept(name, "its instance is in use");
  if (!reader->liveness().name_linked) return kept(name, "a new engine has the name");
  return removed(name, reader->identity(), removal);
}

}  // namespace

std::vector<CollectedSegment> collect_dead_segments(const shm::SegmentPlaces& places, Owners owners,
                                                    Removal removal,
                                                    const shm::AttachOptions& options) {
  std::vector<CollectedSegment> segments;
  for (const shm::SegmentName& name : shm::list_segments(places)) {
    segments.push_back(collect(name, owners, removal, options));
  }
  return segments;
}

}  // namespace vitrine::tools
