// SPDX-License-Identifier: Apache-2.0
// Every record of the segment: what the engine publishes, member by member.
//
// Layout   members follow each other without padding; the size is a multiple of 8 (one payload is
//          copied as 64-bit words). shm/catalogue.h describes each member and checks that.
// Writer   the engine's publisher alone, inside a transaction (shm/segment_writer.h).
// Reader   a row whose state is zero is free. Identity lies inside the payload, so a row that was
//          given to another item is recognised by its generation.
// Evolution  members are only appended; zero means absent.
#pragma once

#include <cstdint>

#include "shm/field.h"

namespace vitrine::shm {

// Which transaction wrote the payload, and which item it describes. First in every record.
struct Identity {
  std::uint64_t stamp = 0;       // the commit that this payload belongs to
  std::uint32_t row = 0;         // index in its table
  std::uint32_t generation = 0;  // how many items have had this row
};

struct EngineRecord {
  Identity identity;
  Backend requested_backend{};
  Backend effective_backend{};
  Text<16> kernel_path;
  Text<96> degraded_reason;
  Instant started;
  std::uint32_t synthesis_limit = 0;
  std::uint32_t synthesis_active = 0;
  std::uint32_t device_queue_capacity = 0;
  std::uint32_t job_queue_capacity = 0;
  std::uint32_t paused = 0;
  std::uint32_t workers = 0;
  std::uint64_t backend_fallbacks = 0;
  std::uint64_t recycled_rows = 0;
  std::uint64_t refused_for_capacity = 0;
  std::uint64_t stale_events = 0;
};

struct DeviceRecord {
  Identity identity;
  Backend kind{};
  DeviceState state{};
  Text<64> name;
  std::uint32_t threads = 0;
  std::uint32_t workers = 0;
  Instant state_since;
  std::uint64_t proofs = 0;
  std::uint64_t proofs_invalid = 0;
  std::uint64_t failures = 0;
};

struct WorkerRecord {
  Identity identity;
  WorkerState state{};
  IdleReason idle_reason{};
  Index device;
  Index partition;
  Id job;
  Index partition_row;
  PartitionStage stage{};
  Instant since;
  std::uint64_t busy_ns = 0;
  std::uint64_t partitions_done = 0;
  std::uint64_t partitions_failed = 0;
  std::uint64_t restarts = 0;
};

struct MemoryRecord {
  Identity identity;
  std::uint64_t budget_bytes = 0;
  std::uint64_t reserved_bytes = 0;
  std::uint64_t reserved_peak_bytes = 0;
  std::uint64_t srs_bytes = 0;
  std::uint64_t pce_bytes = 0;
  std::uint64_t working_bytes = 0;
  std::uint64_t waiting_bytes = 0;
  std::uint64_t resident_bytes = 0;
  std::uint32_t waiters = 0;
  std::uint32_t refused_impossible = 0;
  std::uint64_t accounting_errors = 0;
  std::uint64_t evictions = 0;
};

struct AllocationRecord {
  Identity identity;
  AllocationKind kind{};
  AllocationState state{};
  Text<32> circuit;
  std::uint64_t reserved_bytes = 0;
  std::uint64_t loaded_bytes = 0;
  std::uint64_t total_bytes = 0;
  std::uint32_t references = 0;
  std::uint32_t keep_resident = 0;
  Instant state_since;
  Instant last_used;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t loads = 0;
  std::uint64_t evictions = 0;
  Text<96> cause;
};

struct QueueRecord {
  Identity identity;
  QueueName name{};
  std::uint32_t depth = 0;
  std::uint32_t capacity = 0;
  std::uint32_t depth_peak = 0;
  Instant oldest;
  Priority priority{};  // kUnknown: items of every priority
  std::uint32_t reserved = 0;
};

struct JobRecord {
  Identity identity;
  Id job;
  JobState state{};
  Priority priority{};
  Text<32> circuit;
  Text<16> proof_kind;
  Text<64> request;
  std::uint32_t attempt = 0;
  std::uint32_t partitions = 0;
  std::uint32_t partitions_pending = 0;
  std::uint32_t partitions_witnessing = 0;
  std::uint32_t partitions_synthesizing = 0;
  std::uint32_t partitions_gpu_queued = 0;
  std::uint32_t partitions_gpu_proving = 0;
  std::uint32_t partitions_finishing = 0;
  std::uint32_t partitions_done = 0;
  std::uint32_t partitions_failed = 0;
  std::uint32_t partitions_cancelled = 0;
  WaitReason wait_reason{};
  Instant wait_since;
  std::uint64_t wait_needs_bytes = 0;
  std::uint64_t wait_available_bytes = 0;
  Instant submitted;
  Instant admitted;
  Instant started;
  Instant finished;
  Instant deadline;
  FailureClass failure_class{};
  PartitionStage failure_stage{};
  Index failure_partition;
  Index failure_device;
  Text<128> failure;
  // When it will have ended, as far as can be told; before `deadline` by its margin. Not set: not
  // known, or final.
  Instant expected_end;
};

struct PartitionRecord {
  Identity identity;
  Id job;
  Index job_row;
  std::uint32_t partition = 0;
  PartitionStage stage{};
  std::uint32_t attempt = 0;
  Index worker;
  Index device;
  std::uint64_t reserved_bytes = 0;
  WaitReason wait_reason{};
  FailureClass failure_class{};
  Instant wait_since;
  std::uint64_t wait_needs_bytes = 0;
  Instant created;
  Instant synth_start;
  Instant synth_end;
  Instant gpu_queue;
  Instant gpu_pickup;
  Instant gpu_start;
  Instant gpu_end;
  Instant finished;
  PartitionStage last_stage{};  // the stage it was in when it became final
  std::uint32_t reserved = 0;
  Text<24> stage_name;  // the engine's own word for a stage of its own; empty: the word of `stage`
};

// One row per proof kind. Invariant I1 holds in each row.
struct CountersRecord {
  Identity identity;
  Text<16> proof_kind;
  std::uint64_t submitted = 0;
  std::uint64_t received = 0;
  std::uint64_t queued = 0;
  std::uint64_t admitting = 0;
  std::uint64_t running = 0;
  std::uint64_t assembling = 0;
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t refused = 0;
  std::uint64_t lost = 0;
  std::uint64_t partitions_done = 0;
  std::uint64_t partitions_failed = 0;
  std::uint64_t partitions_cancelled = 0;
  std::uint64_t partitions_retried = 0;
  std::uint64_t deadlines_missed = 0;
};

struct BuffersRecord {
  Identity identity;
  std::uint64_t synth_in_flight = 0;
  std::uint64_t provers_in_flight = 0;
  std::uint64_t aux_in_flight = 0;
  std::uint64_t shells_in_flight = 0;
  std::uint64_t pending_handles = 0;
};

// A thread of the engine and what it is at. One that has been at a step for longer than that step's
// limit is hung.
struct ThreadRecord {
  Identity identity;
  Text<16> name;
  Text<24> step;
  Instant since;               // when the step began
  std::uint64_t limit_ns = 0;  // longest that the step may take; zero: no limit
  std::uint64_t beats = 0;     // steps begun
  Id job;
  Index partition;
  Index worker;
};

// Something of which only so many may be in use at once.
struct LimiterRecord {
  Identity identity;
  Text<24> name;
  std::uint64_t limit = 0;
  std::uint64_t used = 0;
  std::uint64_t used_peak = 0;
  std::uint64_t waiting = 0;
  std::uint64_t refused = 0;
};

// How long partitions of one proof kind stayed in one stage; stage `done` counts whole lives, from
// created to done.
struct StageTimesRecord {
  Identity identity;
  Text<16> proof_kind;
  PartitionStage stage{};
  std::uint32_t reserved = 0;
  std::uint64_t count = 0;
  std::uint64_t sum_ns = 0;
  std::uint64_t max_ns = 0;
  Histogram times;
};

// One setting in effect, and where its value came from.
struct SettingRecord {
  Identity identity;
  Text<64> name;
  Text<160> value;
  Text<96> origin;
};

// One distinct error; occurrences that differ only in their item are counted together.
struct ErrorRecord {
  Identity identity;
  FailureClass failure_class{};
  Index device;  // of the last occurrence, as `job` and `partition`
  std::uint64_t count = 0;
  Instant first;
  Instant last;
  Id job;
  Index partition;
  std::uint32_t reserved = 0;
  Text<160> text;
};

// The history ring's entry: the main gauges and counters once a second. `stamp` and `sequence` are
// filled in by the writer.
struct HistorySample {
  std::uint64_t stamp = 0;
  std::uint64_t sequence = 0;  // 1 for the first sample of an incarnation
  Instant time;
  std::uint32_t jobs_waiting = 0;
  std::uint32_t jobs_active = 0;
  std::uint32_t partitions_pending = 0;
  std::uint32_t partitions_synthesizing = 0;
  std::uint32_t partitions_gpu_queued = 0;
  std::uint32_t partitions_on_device = 0;
  std::uint32_t workers = 0;
  std::uint32_t memory_waiters = 0;
  std::uint64_t reserved_bytes = 0;
  std::uint64_t resident_bytes = 0;
  std::uint64_t busy_ns = 0;  // of all workers
  std::uint64_t jobs_done = 0;
  std::uint64_t jobs_failed = 0;
  std::uint64_t jobs_refused = 0;
  std::uint64_t partitions_done = 0;
  std::uint64_t partitions_failed = 0;
  std::uint64_t reserved = 0;
};
static_assert(sizeof(HistorySample) == 128);

// What a signal handler wrote when the process was struck down; single words, no versions.
// `written` is stored last.
struct LastWords {
  std::uint64_t written = 0;  // 1 once the rest is whole
  std::uint32_t signal = 0;
  std::uint32_t signal_code = 0;  // si_code
  Instant time;
  Text<16> thread;
  Id job;
  Index partition;
  PartitionStage stage{};
};
static_assert(sizeof(LastWords) == 56);

// One entry of the event ring, 64 bytes. `stamp` and `sequence` are filled in by the writer.
struct Event {
  std::uint64_t stamp = 0;
  std::uint64_t sequence = 0;  // 1 for the first event of an incarnation
  Instant time;
  Id job;
  EventType type{};
  std::uint32_t attempt = 0;
  Index partition;
  Index worker;
  Index device;
  std::uint32_t reserved = 0;
  std::uint64_t argument = 0;  // bytes, a failure class or a count, by type
};
static_assert(sizeof(Event) == 64);

}  // namespace vitrine::shm
