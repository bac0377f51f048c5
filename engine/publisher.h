// SPDX-License-Identifier: Apache-2.0
// Publisher: the only code that writes the status plane; one function per lifecycle event.
//
// Writer   inside one open transaction; rows named in the events are made whole from the model,
//          totals are written when they differ.
// Threads  like the transaction: the state mutex is held.
// Cost     no allocation, no system call (tests/engine/publisher_test.cc counts both).
// Crash    readers keep the state of the last transaction that ended.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/configuration.h"
#include "engine/model.h"
#include "shm/segment_writer.h"

namespace vitrine::engine {

class Publisher {
 public:
  Publisher(shm::Transaction& transaction, shm::Instant now)
      : transaction_(transaction), now_(now) {}

  // Jobs.
  void job_received(const Job& job) noexcept;
  void job_refused(JobId id, std::uint32_t partitions) noexcept;
  // The same with a row to show it in.
  void job_refused(const Job& job, std::uint32_t partitions) noexcept;
  void job_queued(const Job& job) noexcept { publish(job); }
  void job_considered(const Job& job) noexcept;
  void job_waits(const Job& job) noexcept;
  void job_admitted(const Job& job) noexcept;
  void job_expected(const Job& job) noexcept { publish(job); }
  void job_stopping(const Job& job) noexcept { publish(job); }
  void job_assembling(const Job& job) noexcept { publish(job); }
  void job_finished(const Job& job) noexcept;
  void job_recycled(const Job& job) noexcept;

  // Partitions.
  void partition_waits(const Partition& partition) noexcept;
  void partition_granted(const Partition& partition) noexcept;
  void stage_changed(const Partition& partition) noexcept;
  void synthesis_started(const Partition& partition) noexcept;
  void synthesis_ended(const Partition& partition) noexcept;
  void device_queued(const Partition& partition) noexcept;
  void partition_retried(const Partition& partition) noexcept;
  void picked_up(const Partition& partition, const Worker& worker, const EngineModel&) noexcept;
  void kernels_started(const Partition& partition, const EngineModel& model) noexcept;
  void bytes_returned(const Partition& partition, const EngineModel& model) noexcept;
  void kernels_ended(const Partition& partition, const EngineModel& model) noexcept;
  void partition_finished(const Partition& partition) noexcept;

  // Workers, devices, keys.
  void worker_changed(const Worker& worker, const EngineModel& model) noexcept;
  void device_changed(const Device& device) noexcept;
  void key_loading(const Circuit& circuit) noexcept;
  void key_progressed(const Circuit& circuit) noexcept { publish(circuit); }
  void key_released(const Circuit& circuit) noexcept { publish(circuit); }
  void key_settled(const Circuit& circuit) noexcept;
  void key_leaving(const Circuit& circuit) noexcept { publish(circuit); }
  void key_dropped(const Circuit& circuit) noexcept;

  // Circuits.
  void circuit_added(const Circuit& circuit) noexcept;
  void circuit_changed(const Circuit& circuit) noexcept { publish(circuit); }
  void circuit_removed(const Circuit& circuit) noexcept;

  // Threads and errors.
  void thread_changed(ThreadRow row, const ThreadState& thread) noexcept;
  void error_noted(std::uint32_t row, const ErrorLog::Entry& entry) noexcept;

  // The engine.
  void settings(const std::vector<SettingInEffect>& settings) noexcept;
  void started(const EngineModel& model) noexcept;
  void backend_fell_back() noexcept { append(shm::Event{}, shm::EventType::kFallback); }
  void draining() noexcept { append(shm::Event{}, shm::EventType::kDrain); }
  void stopped(std::uint32_t exit_code) noexcept;
  // One more sample of the history: once a second.
  void history(const EngineModel& model) noexcept;
  // Everything that is a sum: memory, queues, limiters, counters, stage times, buffers, the
  // engine's own row.
  void totals(const EngineModel& model) noexcept;

 private:
  template <class Record>
  void set_row(std::uint32_t row, const Record& record) noexcept;
  void publish(const Job& job) noexcept;
  void publish(const Partition& partition) noexcept;
  void publish(const Circuit& circuit) noexcept;
  void publish_holder(const Partition& partition, const EngineModel& model) noexcept;
  void queues(const EngineModel& model) noexcept;
  void stage_times(std::uint32_t kind_row, const KindTally& tally) noexcept;
  void append(shm::Event event, shm::EventType type) noexcept;
  void append(const Job& job, shm::EventType type, std::uint64_t argument = 0) noexcept;
  void append(const Partition& partition, shm::EventType type, std::uint64_t argument = 0) noexcept;

  shm::Transaction& transaction_;
  shm::Instant now_;
};

}  // namespace vitrine::engine
