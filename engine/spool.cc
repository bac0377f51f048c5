// SPDX-License-Identifier: Apache-2.0
#include "engine/spool.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

#include "engine/leftover_processes.h"
#include "engine/quantities.h"

namespace vitrine::engine {
namespace {

constexpr const char* kWitnessSuffix = ".wtns";
constexpr const char* kInputSuffix = ".json";
constexpr const char* kWorkSuffix = ".work";

std::string shown(const std::filesystem::path& folder) {
  return "spool_directory " + folder.string();
}

const char* suffix_of(WitnessKind kind) {
  return kind == WitnessKind::kInput ? kInputSuffix : kWitnessSuffix;
}

// Of NUMBER.wtns, NUMBER.json or NUMBER.work, in whatever folder.
std::optional<std::uint64_t> number_of(const std::filesystem::path& path) {
  const std::string digits = path.stem().string();
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool is_number = error == std::errc() && end == digits.data() + digits.size();
  const std::string suffix = path.extension();
  const bool is_ours = suffix == kWitnessSuffix || suffix == kInputSuffix || suffix == kWorkSuffix;
  return is_number && is_ours ? std::optional(number) : std::nullopt;
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
  // The same words at every start: processes that an engine left behind are told by them.
  const std::filesystem::path place = std::filesystem::canonical(folder, problem);
  if (problem) return folder_error(folder, problem.message());
  std::unique_ptr<Spool> spool(new Spool(place, std::move(*lock), limit_bytes));
  for (const auto& entry : std::filesystem::directory_iterator(folder, problem)) {
    const auto number = number_of(entry.path());
    if (number) spool->created_ = std::max(spool->created_.load(), *number + 1);
  }
  return spool;
}

Result<WitnessFile> Spool::take_back(const std::string& name, std::uint64_t bytes) {
  const std::filesystem::path path = folder_ / name;
  if (!number_of(name) || name.find('/') != std::string::npos) {
    return bad_input("has no name of a file of the spool");
  }
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return bad_input("is not in the spool any more");
  if (!S_ISREG(found.st_mode) || static_cast<std::uint64_t>(found.st_size) != bytes) {
    return bad_input("has " + std::to_string(found.st_size) + " bytes in the spool, not " +
                     std::to_string(bytes));
  }
  auto file = std::make_unique<SpoolFile>(*this, path, shm::FileDescriptor());
  file->bytes_ = bytes;
  file->end_as(WitnessCopy::End::kKept);
  used_bytes_.fetch_add(bytes);
  taken_back_.insert(name);
  return SpoolFile::finish(std::move(file));
}

void Spool::remove_orphans() {
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, problem)) {
    const bool is_orphan =
        number_of(entry.path()) && !taken_back_.contains(entry.path().filename().string());
    if (!is_orphan) continue;
    if (entry.path().extension() == kWorkSuffix) end_leftovers(entry.path());
    std::filesystem::remove_all(entry.path(), problem);
  }
  taken_back_.clear();
}

std::string Spool::fault() const {
  const std::lock_guard lock(fault_mutex_);
  return fault_;
}

void Spool::note_write(const std::string& fault) {
  std::function<void()> tell;
  {
    const std::lock_guard lock(fault_mutex_);
    if (fault == fault_) return;
    fault_ = fault;
    tell = fault_changed_;
  }
  if (tell) tell();
}

void Spool::listen(std::function<void()> fault_changed) {
  const std::lock_guard lock(fault_mutex_);
  fault_changed_ = std::move(fault_changed);
}

Error Spool::not_written() {
  const std::string fault = std::string("the spool: ") + std::strerror(errno);
  note_write(fault);
  return {ErrorClass::kOutOfMemory, fault};
}

Result<std::unique_ptr<WorkFolder>> Spool::make_work_folder() {
  auto made = WorkFolder::make(folder_ / (std::to_string(created_.fetch_add(1)) + kWorkSuffix));
  if (!made) note_write(made.error().text);
  return made;
}

Result<std::unique_ptr<SpoolFile>> Spool::create(WitnessKind kind) {
  const std::filesystem::path path =
      folder_ / (std::to_string(created_.fetch_add(1)) + suffix_of(kind));
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  shm::FileDescriptor file(::open(path.c_str(), flags, 0600));
  if (!file.is_open()) return not_written();
  return std::make_unique<SpoolFile>(*this, path, std::move(file));
}

SpoolFile::~SpoolFile() {
  std::error_code ignored;
  if (end_ == End::kRemoved) std::filesystem::remove(path_, ignored);
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
    if (written <= 0) return spool_.not_written();
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

WitnessFile SpoolFile::finish(std::unique_ptr<SpoolFile> file) {
  file->file_ = shm::FileDescriptor();
  if (file->bytes_ > 0) file->spool_.note_write({});
  WitnessFile finished{file->path_, nullptr};
  finished.bytes = file->bytes_;
  finished.copy = std::shared_ptr<const SpoolFile>(std::move(file));
  return finished;
}

}  // namespace vitrine::engine
