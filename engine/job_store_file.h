// SPDX-License-Identifier: Apache-2.0
// The file of the job store: taken, judged, and made when it is not there.
//
// Layout   an SQLite database of mode 0600, with the application id and the schema version of this
//          program; `job`: a row for each job; `witness`: where the witnesses of unfinished ones
//          are; `run`: which of them an engine is at, and how many engines died at it;
//          `proof`: the result of done ones; `probe`: written to see whether the disk takes
//          anything. Beside it PATH.lock, and the library's own PATH-wal and PATH-shm.
// Threads  the starting thread.
// Crash    the library finds the last commit again. synchronous=FULL: a commit has reached the disk
//          when it returns, so a power cut takes nothing that was answered.
#pragma once

#include <filesystem>

#include "engine/sqlite_database.h"
#include "engine/start_failure.h"
#include "shm/owner_lock_writer.h"

namespace vitrine::engine {

struct JobStoreFile {
  shm::OwnerLock lock;  // dropped after the connections
  SqliteDatabase writer;
  SqliteDatabase reader;
};

// kInUse: another engine or program has it. kUsage: it is not ours, or of a newer vitrined.
// kRuntime: it is damaged, or cannot be written. What is there is never removed or made anew.
[[nodiscard]] StartResult<JobStoreFile> open_job_store_file(const std::filesystem::path& path);

}  // namespace vitrine::engine
