// SPDX-License-Identifier: Apache-2.0
// From the model to the records of the status plane: one function per kind of record.
//
// Threads  pure; the model must not change meanwhile.
// Cost     no allocation, no system call.
// Why      a record is always made whole from the model, so no value can be forgotten on one path;
//          the publisher decides when.
#pragma once

#include <array>

#include "engine/configuration.h"
#include "engine/model.h"
#include "shm/records.h"

namespace vitrine::engine {

[[nodiscard]] shm::JobRecord record_of(const Job& job) noexcept;
[[nodiscard]] shm::PartitionRecord record_of(const Partition& partition) noexcept;
[[nodiscard]] shm::DeviceRecord record_of(const Device& device) noexcept;
[[nodiscard]] shm::WorkerRecord record_of(const Worker& worker, const EngineModel& model) noexcept;
[[nodiscard]] shm::CountersRecord record_of(const KindTally& tally) noexcept;
[[nodiscard]] shm::AllocationRecord srs_record_of(const Circuit& circuit) noexcept;
[[nodiscard]] shm::AllocationRecord pce_record_of(const Circuit& circuit) noexcept;

[[nodiscard]] shm::ThreadRecord record_of(const ThreadState& thread) noexcept;
[[nodiscard]] shm::ErrorRecord record_of(const ErrorLog::Entry& entry) noexcept;
[[nodiscard]] shm::SettingRecord record_of(const SettingInEffect& setting) noexcept;
[[nodiscard]] shm::StageTimesRecord stage_times_of(const KindTally& tally,
                                                   shm::PartitionStage stage) noexcept;

[[nodiscard]] shm::EngineRecord engine_record_of(const EngineModel& model) noexcept;
[[nodiscard]] shm::MemoryRecord memory_record_of(const EngineModel& model) noexcept;
[[nodiscard]] shm::BuffersRecord buffers_record_of(const EngineModel& model) noexcept;
[[nodiscard]] shm::QueueRecord jobs_queue_of(const EngineModel& model) noexcept;
[[nodiscard]] shm::QueueRecord synthesis_queue_of(const EngineModel& model) noexcept;
[[nodiscard]] shm::QueueRecord device_queue_of(const EngineModel& model) noexcept;
// Each queue by priority: depth and oldest item.
using QueueRecords = std::array<shm::QueueRecord, 3 * 4>;
[[nodiscard]] QueueRecords queues_by_priority_of(const EngineModel& model) noexcept;
using LimiterRecords = std::array<shm::LimiterRecord, 6>;
[[nodiscard]] LimiterRecords limiters_of(const EngineModel& model) noexcept;
// All but its time.
[[nodiscard]] shm::HistorySample history_sample_of(const EngineModel& model) noexcept;

}  // namespace vitrine::engine
