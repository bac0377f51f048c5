// SPDX-License-Identifier: Apache-2.0
// An engine under test, and another process that holds its segment to the invariants all the while.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "shm/snapshot.h"
#include "tests/engine/real_inputs.h"
#include "tests/engine/scripted_backend.h"
#include "tests/engine/segment_watch.h"
#include "tests/scratch_folder.h"

namespace vitrine::engine::testing {

class EngineFixture {
 public:
  // An engine with the committed circuits `demo`, `multiplier` (bn128) and `bls` (bls12381 demo),
  // in a segment of its own. `adjust` may change the options.
  explicit EngineFixture(ScriptedBackend::Script script = {},
                         const std::function<void(EngineOptions&)>& adjust = {});
  // Every invariant held, and when nothing was left running, I9 too.
  ~EngineFixture();

  Engine& engine() { return *engine_; }
  const std::filesystem::path& segment_path() const { return segment_; }
  Submission submit(const std::string& circuit, unsigned partitions,
                    shm::Priority priority = shm::Priority::kNormal);
  JobId submitted(const std::string& circuit, unsigned partitions);
  // Waits a minute at most; fails the test when the job is not final then.
  JobStatus final_status(JobId id);
  // The segment, as another process would see it. Waits until `ready` holds of a snapshot.
  shm::Snapshot snapshot_when(const std::function<bool(const shm::Snapshot&)>& ready);
  shm::Snapshot snapshot() {
    return snapshot_when([](const shm::Snapshot&) { return true; });
  }
  // Until `condition` holds; fails the test after a minute.
  void await(const std::function<bool()>& condition) const;
  // Checks I9 and that every worker is idle.
  void check_quiet();

 private:
  ScratchFolder scratch_;
  std::filesystem::path segment_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<SegmentWatch> watch_;
};

// The most bytes that an engine reserves which proves one partition of the circuit.
std::uint64_t peak_bytes(const std::string& circuit);

// The job's row of a snapshot.
const shm::JobRecord& job_row(const shm::Snapshot& snapshot, JobId id);

}  // namespace vitrine::engine::testing
