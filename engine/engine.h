// SPDX-License-Identifier: Apache-2.0
// Engine: the whole prover inside one process: takes jobs, proves them, shows every step in the
// segment. vitrined is this with a socket; vitrine-prove is this with one job.
//
// Threads  every function may be called from any thread, drain() and the destructor from one.
// Crash    the segment keeps the state of the last change.
// Why      status writes cannot fail the engine: without shared memory it works on, and says so.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/backend.h"
#include "engine/configuration.h"
#include "engine/device.h"
#include "engine/device_health.h"
#include "engine/engine_control.h"
#include "engine/job_request.h"
#include "engine/job_resumption.h"
#include "engine/journal.h"
#include "engine/key_loader.h"
#include "engine/spool.h"
#include "engine/start_failure.h"
#include "engine/state.h"
#include "shm/records.h"
#include "shm/segment_plan_writer.h"

namespace vitrine::engine {

struct EngineOptions {
  Configuration configuration;
  shm::Capacity capacity;
  std::filesystem::path api_socket;  // shown in the segment; empty: none
  enum class SegmentEnd { kKeep, kRemove } segment_end = SegmentEnd::kKeep;
  std::shared_ptr<Backend> backend;  // instead of the configured one
  std::vector<DeviceSetup> devices;  // instead of the configured ones
  KeyReader key_reader = load_proving_key;
  Journal* journal = nullptr;             // outlives the engine
  std::vector<SettingInEffect> settings;  // to be shown
  JobStore* store = nullptr;              // outlives the engine; null: jobs are in memory only
  Spool* spool = nullptr;                 // outlives the engine; null: no witness can be made
  std::vector<ResumedJob> resumed;        // of engines before this one
  std::uint64_t process_bytes = 0;        // held by the process itself, out of a configured budget
};

struct JobStatus {
  shm::JobRecord record;
  std::string failure;   // in full
  bool is_left = false;  // for the next start of the engine
  [[nodiscard]] bool is_final() const { return shm::is_final(record.state); }
};

struct JobCounts {
  std::uint64_t waiting = 0, running = 0, done = 0, failed = 0;
  bool is_paused = false;
  std::string degraded;  // the reasons that there is room for; empty when it is not
};

struct DeviceStatus {
  shm::DeviceRecord record;
  std::uint32_t number = 0;
  std::optional<std::uint64_t> memory_bytes;  // of its own
  std::string fault;                          // why it is not up; empty when it is
  bool takes_work = true;                     // neither given up nor standing by
};

// kTooLate: how the job ends is decided already.
enum class CancelOutcome { kUnknown, kStopping, kTooLate };

class Engine {
 public:
  using Started = StartResult<std::unique_ptr<Engine>>;
  using Deadline = std::chrono::steady_clock::time_point;

  // Publishes the segment (state starting) and starts the threads; jobs may be submitted.
  [[nodiscard]] static Started start(EngineOptions options);
  ~Engine();

  // From now on the engine shows as ready, or as degraded when it is.
  void declare_ready();

  // With a job store the answer comes when the job is durable. A request id that is known is
  // answered with its job (docs/decisions/0011-request-ids.md).
  [[nodiscard]] Reception receive(JobRequest request);
  [[nodiscard]] Submission submit(JobRequest request);
  // Refuses a job that would be refused whatever its witnesses are: counted and shown like any
  // other. Nothing when the job would be looked at. Cheap: to answer before an upload.
  [[nodiscard]] std::optional<Refusal> refuse_in_advance(JobRequest request);
  // Nothing when the id is unknown: never given, or its rows went to another job (past_job).
  [[nodiscard]] std::optional<JobStatus> status(JobId id);
  // The same once the job is final, at the deadline, or when the engine has drained.
  [[nodiscard]] std::optional<JobStatus> wait(JobId id, Deadline deadline);
  [[nodiscard]] std::vector<shm::PartitionRecord> partitions(JobId id);
  // Null unless the partition is done.
  [[nodiscard]] std::shared_ptr<const ProofTexts> proof(JobId id, std::uint32_t partition);
  // result_assembly.h; null unless the job is done.
  [[nodiscard]] std::shared_ptr<const std::string> result(JobId id);
  // Final jobs that the job store keeps; nothing without a store. They read from disk.
  [[nodiscard]] Result<std::optional<JobStatus>> past_job(JobId id);
  [[nodiscard]] Result<std::shared_ptr<const std::string>> past_result(JobId id);
  [[nodiscard]] Result<std::shared_ptr<const ProofTexts>> past_proof(JobId id,
                                                                     std::uint32_t partition);
  [[nodiscard]] CancelOutcome cancel(JobId id);
  // Jobs that the engine still knows, oldest first.
  [[nodiscard]] std::vector<shm::JobRecord> jobs();
  // The SRS rows: one per circuit.
  [[nodiscard]] std::vector<shm::AllocationRecord> circuits();

  [[nodiscard]] std::vector<DeviceStatus> devices();
  // Takes a device back that was quarantined or lost.
  [[nodiscard]] DeviceRelease release_device(std::uint32_t number);

  // Circuits and settings while the engine runs.
  [[nodiscard]] EngineControl& control();

  enum class Pause { kOn, kOff };
  void set_pause(Pause pause);

  // Refuses new work, lets running jobs end until `deadline` or hurry(), then stops them. What has
  // not ended is left for the next start in the job store; without one it ends as lost. True when
  // nothing runs any more.
  [[nodiscard]] bool drain(Deadline deadline);
  // Cuts drain() short.
  void hurry();
  // Ends the threads and shows the engine as closed. Requires: drain() has answered.
  void close(int exit_code);
  // The same when drain() answered false: the threads go on until the process ends, which must be
  // at once.
  void close_unfinished(int exit_code);

  // Nothing while the state is in somebody's hands.
  [[nodiscard]] std::optional<JobCounts> job_counts();
  // How often the heart has beaten.
  [[nodiscard]] std::uint64_t beats() const;

  // Shows a signal that the process has taken.
  void note_signal(int signal);

  [[nodiscard]] bool is_shared() const;
  // Why the segment is in private memory since the start; empty when it is not.
  [[nodiscard]] const std::string& why_not_shared() const;
  [[nodiscard]] const shm::SegmentWriter& segment() const;

 private:
  struct Parts;
  explicit Engine(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace vitrine::engine
