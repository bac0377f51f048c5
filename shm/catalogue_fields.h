// SPDX-License-Identifier: Apache-2.0
// The catalogue's rows: semantics and help text of every member of every record (shm/records.h).
#pragma once

#include <cstddef>
#include <span>

#include "shm/field.h"
#include "shm/records.h"

namespace vitrine::shm {

// clang-format off
// A row about `Record::member`; name, type, place and words follow from the declaration.
#define VITRINE_FIELD(Record, member, semantics, help_text)                                    \
  Field{#member, FieldTypeOf<decltype(Record::member)>::kType, offsetof(Record, member),       \
        sizeof(Record::member), Semantics::semantics,                                          \
        words_of_member<decltype(Record::member)>(), help_text}
// Bytes kept for later; zero, and shown by nothing.
#define VITRINE_RESERVED(Record, member)                                                       \
  Field{#member, FieldType::kReserved, offsetof(Record, member), sizeof(Record::member),       \
        Semantics::kInfo, {}, ""}
// The members of Identity (shm/records.h), which every record begins with.
#define VITRINE_IDENTITY                                                                       \
  Field{"stamp", FieldType::kId, 0, 8, Semantics::kInfo, {}, "commit of this value"},          \
  Field{"row", FieldType::kU32, 8, 4, Semantics::kInfo, {}, "row in its table"},               \
  Field{"generation", FieldType::kU32, 12, 4, Semantics::kInfo, {}, "items that had this row"}
// clang-format on

// True when the rows follow each other without a gap and end at the record's end.
constexpr bool covers_record(std::span<const Field> fields, std::size_t record_bytes) {
  std::size_t end = 0;
  for (const Field& field : fields) {
    if (field.offset_bytes != end) return false;
    end += field.size_bytes;
  }
  return end == record_bytes;
}

inline constexpr Field kEngineFields[] = {
    VITRINE_IDENTITY,
    VITRINE_FIELD(EngineRecord, requested_backend, kInfo,
                  "backend that the configuration asked for"),
    VITRINE_FIELD(EngineRecord, effective_backend, kInfo, "backend that the probe chose"),
    VITRINE_FIELD(EngineRecord, kernel_path, kInfo, "arithmetic code path in use"),
    VITRINE_FIELD(EngineRecord, degraded_reason, kState,
                  "why the engine is degraded; empty when it is not"),
    VITRINE_FIELD(EngineRecord, started, kInfo, "when this incarnation started"),
    VITRINE_FIELD(EngineRecord, synthesis_limit, kGauge, "synthesis threads"),
    VITRINE_FIELD(EngineRecord, synthesis_active, kGauge, "partitions being synthesized now"),
    VITRINE_FIELD(EngineRecord, device_queue_capacity, kGauge,
                  "partitions that may wait for a worker"),
    VITRINE_FIELD(EngineRecord, job_queue_capacity, kGauge, "jobs that may wait"),
    VITRINE_FIELD(EngineRecord, paused, kState, "1 while new work is held back"),
    VITRINE_FIELD(EngineRecord, workers, kGauge, "workers that exist"),
    VITRINE_FIELD(EngineRecord, backend_fallbacks, kCounter,
                  "times a backend was replaced by a lesser one"),
    VITRINE_FIELD(EngineRecord, recycled_rows, kCounter,
                  "rows of finished items given to new ones"),
    VITRINE_FIELD(EngineRecord, refused_for_capacity, kCounter,
                  "jobs refused because no status row was free"),
    VITRINE_FIELD(EngineRecord, stale_events, kCounter,
                  "late reports of an earlier attempt that were ignored")};

inline constexpr Field kDeviceFields[] = {
    VITRINE_IDENTITY,
    VITRINE_FIELD(DeviceRecord, kind, kInfo, "what kind of device it is"),
    VITRINE_FIELD(DeviceRecord, state, kState, "whether it takes work"),
    VITRINE_FIELD(DeviceRecord, name, kInfo, "model name"),
    VITRINE_FIELD(DeviceRecord, threads, kInfo, "CPU threads that it uses"),
    VITRINE_FIELD(DeviceRecord, workers, kInfo, "workers that feed it"),
    VITRINE_FIELD(DeviceRecord, state_since, kInfo, "when the state began"),
    VITRINE_FIELD(DeviceRecord, proofs, kCounter, "proofs made"),
    VITRINE_FIELD(DeviceRecord, proofs_invalid, kCounter, "proofs that failed the self-check"),
    VITRINE_FIELD(DeviceRecord, failures, kCounter, "partitions that failed on it")};

inline constexpr Field kWorkerFields[] = {
    VITRINE_IDENTITY,
    VITRINE_FIELD(WorkerRecord, state, kState, "idle or proving"),
    VITRINE_FIELD(WorkerRecord, idle_reason, kState, "why it is idle"),
    VITRINE_FIELD(WorkerRecord, device, kInfo, "device that it feeds"),
    VITRINE_FIELD(WorkerRecord, partition, kState, "partition in hand"),
    VITRINE_FIELD(WorkerRecord, job, kState, "job of the partition in hand"),
    VITRINE_FIELD(WorkerRecord, partition_row, kState, "row of the partition in hand"),
    VITRINE_FIELD(WorkerRecord, stage, kState, "stage of the partition in hand"),
    VITRINE_FIELD(WorkerRecord, since, kState, "when the state began"),
    VITRINE_FIELD(WorkerRecord, busy_ns, kCounter, "time spent on finished partitions, in ns"),
    VITRINE_FIELD(WorkerRecord, partitions_done, kCounter, "partitions proved"),
    VITRINE_FIELD(WorkerRecord, partitions_failed, kCounter, "partitions that failed here"),
    VITRINE_FIELD(WorkerRecord, restarts, kCounter, "times it was restarted after an exception")};

inline constexpr Field kMemoryFields[] = {
    VITRINE_IDENTITY,
    VITRINE_FIELD(MemoryRecord, budget_bytes, kGauge, "bytes that may be reserved"),
    VITRINE_FIELD(MemoryRecord, reserved_bytes, kGauge, "bytes reserved now"),
    VITRINE_FIELD(MemoryRecord, reserved_peak_bytes, kGauge, "most bytes ever reserved"),
    VITRINE_FIELD(MemoryRecord, srs_bytes, kGauge, "reserved for points of proving keys"),
    VITRINE_FIELD(MemoryRecord, pce_bytes, kGauge, "reserved for constraint matrices"),
    VITRINE_FIELD(MemoryRecord, working_bytes, kGauge, "reserved by partitions"),
    VITRINE_FIELD(MemoryRecord, waiting_bytes, kGauge, "bytes that the waiters need"),
    VITRINE_FIELD(MemoryRecord, resident_bytes, kGauge, "resident memory of the process"),
    VITRINE_FIELD(MemoryRecord, waiters, kGauge, "requests that wait for bytes"),
    VITRINE_FIELD(MemoryRecord, refused_impossible, kCounter, "requests larger than the budget"),
    VITRINE_FIELD(MemoryRecord, accounting_errors, kCounter,
                  "refunds that did not match a reservation"),
    VITRINE_FIELD(MemoryRecord, evictions, kCounter, "allocations evicted to make room")};

inline constexpr Field kAllocationFields[] = {
    VITRINE_IDENTITY,
    VITRINE_FIELD(AllocationRecord, kind, kInfo, "points (srs) or constraint matrices (pce)"),
    VITRINE_FIELD(AllocationRecord, state, kState, "where it is in its life"),
    VITRINE_FIELD(AllocationRecord, circuit, kInfo, "circuit that it belongs to"),
    VITRINE_FIELD(AllocationRecord, reserved_bytes, kGauge, "bytes of the budget that it holds"),
    VITRINE_FIELD(AllocationRecord, loaded_bytes, kGauge, "bytes read so far"),
    VITRINE_FIELD(AllocationRecord, total_bytes, kGauge, "bytes when loaded"),
    VITRINE_FIELD(AllocationRecord, references, kGauge, "partitions that use it now"),
    VITRINE_FIELD(AllocationRecord, keep_resident, kInfo, "1 when it is never evicted"),
    VITRINE_FIELD(AllocationRecord, state_since, kState, "when the state began"),
    VITRINE_FIELD(AllocationRecord, last_used, kState, "when it was last used"),
    VITRINE_FIELD(AllocationRecord, hits, kCounter, "uses that found it loaded or loading"),
    VITRINE_FIELD(AllocationRecord, misses, kCounter, "uses that had to load it"),
    VITRINE_FIELD(AllocationRecord, loads, kCounter, "times it was loaded"),
    VITRINE_FIELD(AllocationRecord, evictions, kCounter, "times it was evicted"),
    VITRINE_FIELD(AllocationRecord, cause, kState, "why it is corrupt")};

inline constexpr Field kQueueFields[] = {
    VITRINE_IDENTITY,
    VITRINE_FIELD(QueueRecord, name, kInfo, "which queue"),
    VITRINE_FIELD(QueueRecord, depth, kGauge, "items waiting"),
    VITRINE_FIELD(QueueRecord, capacity, kGauge, "items that may wait"),
    VITRINE_FIELD(QueueRecord, depth_peak, kGauge, "most items that ever waited"),
    VITRINE_FIELD(QueueRecord, oldest, kState, "when the oldest waiting item came"),
    VITRINE_FIELD(QueueRecord, priority, kInfo, "priority counted in this row; unknown: all"),
    VITRINE_RESERVED(QueueRecord, reserved)};

inline constexpr Field kJobFields[] = {
    VITRINE_IDENTITY,
    VITRINE_FIELD(JobRecord, job, kInfo, "job id"),
    VITRINE_FIELD(JobRecord, state, kState, "where the job is in its life"),
    VITRINE_FIELD(JobRecord, priority, kInfo, "how urgent"),
    VITRINE_FIELD(JobRecord, circuit, kInfo, "circuit id"),
    VITRINE_FIELD(JobRecord, proof_kind, kInfo, "proof kind of the circuit"),
    VITRINE_FIELD(JobRecord, request, kInfo, "request id given by the client"),
    VITRINE_FIELD(JobRecord, attempt, kState, "attempt number, from 1"),
    VITRINE_FIELD(JobRecord, partitions, kInfo, "partitions of the job"),
    VITRINE_FIELD(JobRecord, partitions_pending, kState, "partitions in stage pending"),
    VITRINE_FIELD(JobRecord, partitions_witnessing, kState, "partitions in stage witnessing"),
    VITRINE_FIELD(JobRecord, partitions_synthesizing, kState, "partitions in stage synthesizing"),
    VITRINE_FIELD(JobRecord, partitions_gpu_queued, kState, "partitions in stage gpu_queued"),
    VITRINE_FIELD(JobRecord, partitions_gpu_proving, kState, "partitions in stage gpu_proving"),
    VITRINE_FIELD(JobRecord, partitions_finishing, kState, "partitions in stage finishing"),
    VITRINE_FIELD(JobRecord, partitions_done, kState, "partitions in stage done"),
    VITRINE_FIELD(JobRecord, partitions_failed, kState, "partitions in stage failed"),
    VITRINE_FIELD(JobRecord, partitions_cancelled, kState, "partitions in stage cancelled"),
    VITRINE_FIELD(JobRecord, wait_reason, kState, "what the job waits for"),
    VITRINE_FIELD(JobRecord, wait_since, kState, "since when it waits"),
    VITRINE_FIELD(JobRecord, wait_needs_bytes, kState, "bytes that it needs"),
    VITRINE_FIELD(JobRecord, wait_available_bytes, kState,
                  "bytes that were free when it began to wait"),
    VITRINE_FIELD(JobRecord, submitted, kInfo, "when it was submitted"),
    VITRINE_FIELD(JobRecord, admitted, kState, "when it was admitted"),
    VITRINE_FIELD(JobRecord, started, kState, "when its first partition began"),
    VITRINE_FIELD(JobRecord, finished, kState, "when it became final"),
    VITRINE_FIELD(JobRecord, deadline, kInfo, "when it should be done"),
    VITRINE_FIELD(JobRecord, failure_class, kState, "class of the failure"),
    VITRINE_FIELD(JobRecord, failure_stage, kState, "stage that failed"),
    VITRINE_FIELD(JobRecord, failure_partition, kState, "partition that failed"),
    VITRINE_FIELD(JobRecord, failure_device, kState, "device that it failed on"),
    VITRINE_FIELD(JobRecord, failure, kState, "what went wrong"),
    VITRINE_FIELD(JobRecord, expected_end, kState,
                  "when it is expected to end, by how long such work took")};

inline constexpr Field kPartitionFields[] = {
    VITRINE_IDENTITY,
    VITRINE_FIELD(PartitionRecord, job, kInfo, "job id"),
    VITRINE_FIELD(PartitionRecord, job_row, kInfo, "row of its job"),
    VITRINE_FIELD(PartitionRecord, partition, kInfo, "number within the job"),
    VITRINE_FIELD(PartitionRecord, stage, kState, "where the partition is"),
    VITRINE_FIELD(PartitionRecord, attempt, kState, "attempt number, from 1"),
    VITRINE_FIELD(PartitionRecord, worker, kState, "worker that has it"),
    VITRINE_FIELD(PartitionRecord, device, kState, "device that it runs on"),
    VITRINE_FIELD(PartitionRecord, reserved_bytes, kGauge, "bytes of the budget that it holds"),
    VITRINE_FIELD(PartitionRecord, wait_reason, kState, "what it waits for"),
    VITRINE_FIELD(PartitionRecord, failure_class, kState, "class of the failure"),
    VITRINE_FIELD(PartitionRecord, wait_since, kState, "since when it waits"),
    VITRINE_FIELD(PartitionRecord, wait_needs_bytes, kState, "bytes that it needs"),
    VITRINE_FIELD(PartitionRecord, created, kInfo, "when it was created"),
    VITRINE_FIELD(PartitionRecord, synth_start, kState, "when synthesis began"),
    VITRINE_FIELD(PartitionRecord, synth_end, kState, "when synthesis ended"),
    VITRINE_FIELD(PartitionRecord, gpu_queue, kState, "when it joined the device queue"),
    VITRINE_FIELD(PartitionRecord, gpu_pickup, kState, "when a worker took it"),
    VITRINE_FIELD(PartitionRecord, gpu_start, kState, "when its kernels began"),
    VITRINE_FIELD(PartitionRecord, gpu_end, kState, "when its kernels ended"),
    VITRINE_FIELD(PartitionRecord, finished, kState, "when it became final"),
    VITRINE_FIELD(PartitionRecord, last_stage, kState, "stage that it was in when it became final"),
    VITRINE_RESERVED(PartitionRecord, reserved),
    VITRINE_FIELD(PartitionRecord, stage_name, kState,
                  "the engine's own word for the stage, when it has one")};

inline constexpr Field kCountersFields[] = {
    VITRINE_IDENTITY,
    VITRINE_FIELD(CountersRecord, proof_kind, kInfo, "proof kind counted in this row"),
    VITRINE_FIELD(CountersRecord, submitted, kCounter, "jobs submitted"),
    VITRINE_FIELD(CountersRecord, received, kGauge, "jobs in state received"),
    VITRINE_FIELD(CountersRecord, queued, kGauge, "jobs in state queued"),
    VITRINE_FIELD(CountersRecord, admitting, kGauge, "jobs in state admitting"),
    VITRINE_FIELD(CountersRecord, running, kGauge, "jobs in state running"),
    VITRINE_FIELD(CountersRecord, assembling, kGauge, "jobs in state assembling"),
    VITRINE_FIELD(CountersRecord, done, kCounter, "jobs that ended done"),
    VITRINE_FIELD(CountersRecord, failed, kCounter, "jobs that ended failed"),
    VITRINE_FIELD(CountersRecord, cancelled, kCounter, "jobs that ended cancelled"),
    VITRINE_FIELD(CountersRecord, refused, kCounter, "jobs that ended refused"),
    VITRINE_FIELD(CountersRecord, lost, kCounter, "jobs that ended lost"),
    VITRINE_FIELD(CountersRecord, partitions_done, kCounter, "partitions proved"),
    VITRINE_FIELD(CountersRecord, partitions_failed, kCounter, "partitions failed"),
    VITRINE_FIELD(CountersRecord, partitions_cancelled, kCounter, "partitions cancelled"),
    VITRINE_FIELD(CountersRecord, partitions_retried, kCounter, "partitions tried again"),
    VITRINE_FIELD(CountersRecord, deadlines_missed, kCounter,
                  "jobs that finished after their deadline")};

inline constexpr Field kBuffersFields[] = {
    VITRINE_IDENTITY,
    VITRINE_FIELD(BuffersRecord, synth_in_flight, kGauge, "partitions in synthesis"),
    VITRINE_FIELD(BuffersRecord, provers_in_flight, kGauge,
                  "synthesized partitions not yet on a device"),
    VITRINE_FIELD(BuffersRecord, aux_in_flight, kGauge, "witness buffers held"),
    VITRINE_FIELD(BuffersRecord, shells_in_flight, kGauge, "quotient buffers held"),
    VITRINE_FIELD(BuffersRecord, pending_handles, kGauge, "proofs being finished")};

inline constexpr Field kThreadFields[] = {
    VITRINE_IDENTITY,
    VITRINE_FIELD(ThreadRecord, name, kInfo, "name of the thread"),
    VITRINE_FIELD(ThreadRecord, step, kState, "what it is at"),
    VITRINE_FIELD(ThreadRecord, since, kState, "when the step began"),
    VITRINE_FIELD(ThreadRecord, limit_ns, kState, "longest that the step may take; 0: no limit"),
    VITRINE_FIELD(ThreadRecord, beats, kCounter, "steps begun"),
    VITRINE_FIELD(ThreadRecord, job, kState, "job that it works for"),
    VITRINE_FIELD(ThreadRecord, partition, kState, "partition that it works for"),
    VITRINE_FIELD(ThreadRecord, worker, kInfo, "worker that it is")};

inline constexpr Field kLimiterFields[] = {
    VITRINE_IDENTITY,
    VITRINE_FIELD(LimiterRecord, name, kInfo, "what is limited"),
    VITRINE_FIELD(LimiterRecord, limit, kGauge, "most that may be in use at once"),
    VITRINE_FIELD(LimiterRecord, used, kGauge, "in use now"),
    VITRINE_FIELD(LimiterRecord, used_peak, kGauge, "most that were ever in use"),
    VITRINE_FIELD(LimiterRecord, waiting, kGauge, "waiting for it now"),
    VITRINE_FIELD(LimiterRecord, refused, kCounter, "turned away because of it")};

inline constexpr Field kStageTimesFields[] = {
    VITRINE_IDENTITY,
    VITRINE_FIELD(StageTimesRecord, proof_kind, kInfo, "proof kind counted in this row"),
    VITRINE_FIELD(StageTimesRecord, stage, kInfo, "stage; done: from created to done"),
    VITRINE_RESERVED(StageTimesRecord, reserved),
    VITRINE_FIELD(StageTimesRecord, count, kCounter, "partitions that left the stage"),
    VITRINE_FIELD(StageTimesRecord, sum_ns, kCounter, "time they spent in it"),
    VITRINE_FIELD(StageTimesRecord, max_ns, kGauge, "longest time that one spent in it"),
    VITRINE_FIELD(StageTimesRecord, times, kCounter, "partitions by time spent in it")};

inline constexpr Field kSettingFields[] = {
    VITRINE_IDENTITY, VITRINE_FIELD(SettingRecord, name, kInfo, "setting"),
    VITRINE_FIELD(SettingRecord, value, kInfo, "value in effect"),
    VITRINE_FIELD(SettingRecord, origin, kInfo, "where the value came from")};

inline constexpr Field kErrorFields[] = {
    VITRINE_IDENTITY,
    VITRINE_FIELD(ErrorRecord, failure_class, kInfo, "class of the error"),
    VITRINE_FIELD(ErrorRecord, device, kState, "device of the last occurrence"),
    VITRINE_FIELD(ErrorRecord, count, kCounter, "occurrences"),
    VITRINE_FIELD(ErrorRecord, first, kInfo, "first occurrence"),
    VITRINE_FIELD(ErrorRecord, last, kState, "last occurrence"),
    VITRINE_FIELD(ErrorRecord, job, kState, "job of the last occurrence"),
    VITRINE_FIELD(ErrorRecord, partition, kState, "partition of the last occurrence"),
    VITRINE_RESERVED(ErrorRecord, reserved),
    VITRINE_FIELD(ErrorRecord, text, kInfo, "what went wrong")};

inline constexpr Field kHistoryFields[] = {
    VITRINE_FIELD(HistorySample, stamp, kInfo, "commit that it belongs to"),
    VITRINE_FIELD(HistorySample, sequence, kInfo, "position in the stream of samples, from 1"),
    VITRINE_FIELD(HistorySample, time, kInfo, "when it was taken"),
    VITRINE_FIELD(HistorySample, jobs_waiting, kGauge, "jobs received, queued or admitting"),
    VITRINE_FIELD(HistorySample, jobs_active, kGauge, "jobs running or assembling"),
    VITRINE_FIELD(HistorySample, partitions_pending, kGauge, "partitions not yet in synthesis"),
    VITRINE_FIELD(HistorySample, partitions_synthesizing, kGauge, "partitions in synthesis"),
    VITRINE_FIELD(HistorySample, partitions_gpu_queued, kGauge, "partitions waiting for a worker"),
    VITRINE_FIELD(HistorySample, partitions_on_device, kGauge, "partitions that a worker has"),
    VITRINE_FIELD(HistorySample, workers, kGauge, "workers that exist"),
    VITRINE_FIELD(HistorySample, memory_waiters, kGauge, "requests that wait for bytes"),
    VITRINE_FIELD(HistorySample, reserved_bytes, kGauge, "bytes of the budget reserved"),
    VITRINE_FIELD(HistorySample, resident_bytes, kGauge, "resident memory of the process"),
    VITRINE_FIELD(HistorySample, busy_ns, kCounter, "time workers spent on finished partitions"),
    VITRINE_FIELD(HistorySample, jobs_done, kCounter, "jobs that ended done"),
    VITRINE_FIELD(HistorySample, jobs_failed, kCounter, "jobs that ended failed"),
    VITRINE_FIELD(HistorySample, jobs_refused, kCounter, "jobs that ended refused"),
    VITRINE_FIELD(HistorySample, partitions_done, kCounter, "partitions proved"),
    VITRINE_FIELD(HistorySample, partitions_failed, kCounter, "partitions failed"),
    VITRINE_RESERVED(HistorySample, reserved)};

inline constexpr Field kLastWordsFields[] = {
    VITRINE_FIELD(LastWords, written, kState, "1 once the rest is whole"),
    VITRINE_FIELD(LastWords, signal, kState, "signal that ended the process"),
    VITRINE_FIELD(LastWords, signal_code, kState, "si_code of the signal"),
    VITRINE_FIELD(LastWords, time, kState, "when it struck"),
    VITRINE_FIELD(LastWords, thread, kState, "name of the thread that it struck"),
    VITRINE_FIELD(LastWords, job, kState, "job in the thread's hand"),
    VITRINE_FIELD(LastWords, partition, kState, "partition in the thread's hand"),
    VITRINE_FIELD(LastWords, stage, kState, "stage of that partition")};

inline constexpr Field kEventFields[] = {
    VITRINE_FIELD(Event, stamp, kInfo, "commit that it belongs to"),
    VITRINE_FIELD(Event, sequence, kInfo, "position in the stream of events, from 1"),
    VITRINE_FIELD(Event, time, kInfo, "when it happened"),
    VITRINE_FIELD(Event, job, kInfo, "job id"),
    VITRINE_FIELD(Event, type, kInfo, "what happened"),
    VITRINE_FIELD(Event, attempt, kInfo, "attempt number"),
    VITRINE_FIELD(Event, partition, kInfo, "partition number"),
    VITRINE_FIELD(Event, worker, kInfo, "worker number"),
    VITRINE_FIELD(Event, device, kInfo, "device number"),
    VITRINE_RESERVED(Event, reserved),
    VITRINE_FIELD(Event, argument, kInfo, "bytes, failure class or count, by type")};

#undef VITRINE_FIELD
#undef VITRINE_RESERVED
#undef VITRINE_IDENTITY

}  // namespace vitrine::shm
