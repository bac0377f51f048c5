// SPDX-License-Identifier: Apache-2.0
#include "engine/spool.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "engine/quantities.h"

namespace vitrine::engine {
namespace {

constexpr const char* kSuffix = ".wtns";

std::string shown(const std::filesystem::path& folder) {
  return "spool_directory " + folder.string();
}

StartFailure folder_error(const std::filesystem::path& folder, const std::string& rule) {
  return {StartFailure::Kind::kUsage, shown(folder) + ": " + rule};
}

}  // namespace

StartResult<std::unique_ptr<Spool>> Spool::open(const std::filesystem::path& folder,
                                                std::uint64_t limit_bytes) {
  std::error_code problem;
  std::filesystem::create_directories(folder.parent_path(), problem);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return folder_error(folder, std::strerror(errno));
  }
  struct stat found {};
  if (::lstat(folder.c_str(), &found) != 0) return folder_error(folder, std::strerror(errno));
  const bool is_private = S_ISDIR(found.st_mode) && found.st_uid == ::geteuid();
  if (!is_private) return folder_error(folder, "is not a folder of this user");
  if (::chmod(folder.c_str(), 0700) != 0) return folder_error(folder, std::strerror(errno));
  auto lock = shm::OwnerLock::take(folder / "lock", shm::Owned::kSpool, shown(folder));
  if (!lock) return start_failure_of(lock.error());
  for (const auto& entry : std::filesystem::directory_iterator(folder, problem)) {
    if (entry.path().extension() == kSuffix) std::filesystem::remove(entry.path(), problem);
  }
  return std::unique_ptr<Spool>(new Spool(folder, std::move(*lock), limit_bytes));
}

Result<std::unique_ptr<SpoolFile>> Spool::create() {
  const std::filesystem::path path = folder_ / (std::to_string(created_.fetch_add(1)) + kSuffix);
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  shm::FileDescriptor file(::open(path.c_str(), flags, 0600));
  if (!file.is_open()) {
    return Error{ErrorClass::kOutOfMemory, std::string("the spool: ") + std::strerror(errno)};
  }
  return std::make_unique<SpoolFile>(*this, path, std::move(file));
}

SpoolFile::~SpoolFile() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
  spool_.used_bytes_.fetch_sub(bytes_);
}

Result<void> SpoolFile::append(std::span<const char> bytes) {
  const std::uint64_t used = spool_.used_bytes_.fetch_add(bytes.size()) + bytes.size();
  bytes_ += bytes.size();
  if (used > spool_.limit_bytes_) {
    return Error{ErrorClass::kOutOfMemory,
                 "the spool is full: it holds " + size_text(spool_.limit_bytes_) + " at most"};
  }
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_.number(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      return Error{ErrorClass::kOutOfMemory, std::string("the spool: ") + std::strerror(errno)};
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

WitnessFile SpoolFile::finish(std::unique_ptr<SpoolFile> file) {
  file->file_ = shm::FileDescriptor();
  WitnessFile finished{file->path_, nullptr};
  finished.copy = std::shared_ptr<const SpoolFile>(std::move(file));
  return finished;
}

std::filesystem::path default_spool_directory(const std::string& instance) {
  if (const char* state = std::getenv("STATE_DIRECTORY"); state != nullptr && *state != '\0') {
    const std::string folders(state);
    return std::filesystem::path(folders.substr(0, folders.find(':'))) / "spool";
  }
  std::filesystem::path home;
  if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state != '\0') {
    home = state;
  } else if (const char* user = std::getenv("HOME"); user != nullptr && *user != '\0') {
    home = std::filesystem::path(user) / ".local/state";
  } else {
    home = "/var/lib";
  }
  return home / "vitrine" / instance / "spool";
}

}  // namespace vitrine::engine
