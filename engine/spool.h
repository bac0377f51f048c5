// SPDX-License-Identifier: Apache-2.0
// Spool: where uploaded witnesses and inputs lie until their partition is over.
//
// Layout: a folder of mode 0700 that belongs to one engine, which holds the lock of its file
// `lock`; witnesses NUMBER.wtns and inputs NUMBER.json of mode 0600; folders NUMBER.work of mode
// 0700, in which witnesses are made (their bytes count for nobody: there are as many as synthesis
// threads).
//
// Threads: any. The spool outlives its files. The listener is called by the thread that wrote,
// which holds no lock.
//
// Crash: files stay behind; the next engine of the instance takes those of unfinished jobs back and
// removes the others.
//
// Why: a witness is a secret, and may be larger than what one wants in memory while it waits.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>

#include "engine/error.h"
#include "engine/start_failure.h"
#include "engine/witness_file.h"
#include "engine/work_folder.h"
#include "shm/file_descriptor.h"
#include "shm/owner_lock_writer.h"

namespace vitrine::engine {

class SpoolFile;

class Spool {
 public:
  // Makes the folder if need be and takes it. kInUse: a live engine has it; kUsage: it is not this
  // user's alone.
  [[nodiscard]] static StartResult<std::unique_ptr<Spool>> open(const std::filesystem::path& folder,
                                                                std::uint64_t limit_bytes);

  [[nodiscard]] Result<std::unique_ptr<SpoolFile>> create(WitnessKind kind = WitnessKind::kWitness);
  // The spool need not outlive it. Errors: see WorkFolder::make.
  [[nodiscard]] Result<std::unique_ptr<WorkFolder>> make_work_folder();
  // A file of an engine before this one, by its name here, of exactly that many bytes. It is kept
  // until it is told otherwise.
  [[nodiscard]] Result<WitnessFile> take_back(const std::string& name, std::uint64_t bytes);
  // Removes what is left of engines before this one, and ends what still runs in their folders;
  // before anything is created.
  void remove_orphans();
  [[nodiscard]] std::uint64_t used_bytes() const { return used_bytes_.load(); }

  // What its disk answered to the last write; empty when that went well. The limit is none of it.
  [[nodiscard]] std::string fault() const;
  void note_write(const std::string& fault);
  // Called after each change of fault(), until another takes its place.
  void listen(std::function<void()> fault_changed);

 private:
  friend class SpoolFile;
  Spool(std::filesystem::path folder, shm::OwnerLock lock, std::uint64_t limit_bytes)
      : folder_(std::move(folder)), lock_(std::move(lock)), limit_bytes_(limit_bytes) {}
  // For the reason that errno says.
  [[nodiscard]] Error not_written();

  std::filesystem::path folder_;
  shm::OwnerLock lock_;
  std::uint64_t limit_bytes_;
  std::atomic<std::uint64_t> used_bytes_{0};
  std::atomic<std::uint64_t> created_{0};  // more than every number that is there
  std::set<std::string> taken_back_;       // until the orphans are removed
  mutable std::mutex fault_mutex_;         // of the two below
  std::string fault_;
  std::function<void()> fault_changed_;
};

// Removed, and its bytes free again, when it goes away, unless it is to be kept.
class SpoolFile final : public WitnessCopy {
 public:
  SpoolFile(Spool& spool, std::filesystem::path path, shm::FileDescriptor file)
      : spool_(spool), path_(std::move(path)), file_(std::move(file)) {}
  SpoolFile(const SpoolFile&) = delete;
  SpoolFile& operator=(const SpoolFile&) = delete;
  ~SpoolFile() override;

  void end_as(End end) const noexcept override { end_ = end; }
  // kOutOfMemory when the spool's limit or the file system is full; clients read the text, so it
  // names no file.
  [[nodiscard]] Result<void> append(std::span<const char> bytes);
  // No more bytes: closes the file and hands it over.
  [[nodiscard]] static WitnessFile finish(std::unique_ptr<SpoolFile> file);
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  Spool& spool_;
  std::filesystem::path path_;
  shm::FileDescriptor file_;
  friend class Spool;

  std::uint64_t bytes_ = 0;
  mutable std::atomic<End> end_{End::kRemoved};
};

}  // namespace vitrine::engine
