// SPDX-License-Identifier: Apache-2.0
// JobLedger: the books of an engine that has none of its own for the status plane: which rows its
// jobs, partitions, workers and bytes have, and which change may follow which.
//
// Writer   each method is one transaction. What cannot follow is refused and publishes nothing, so
//          the invariants I1 to I9 hold whatever a caller does.
// Threads  any; a mutex inside is held for the change only. beat() goes on its own beside it.
// Cost     sums are made anew from the rows of the jobs in hand: correct by construction, and
//          microseconds for thousands of partitions.
// Why      other engines want tables, not transactions (shm/vitrine.h).
#pragma once

#include <boost/system/result.hpp>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "shm/segment_writer.h"

namespace vitrine::shm {

enum class LedgerCode {
  kBadArgument,
  kNoSuchItem,
  kExists,
  kWrongOrder,
  kFull,
  kOverBudget,
  kBusy,
  kSystem
};
struct LedgerError {
  LedgerCode code;
  std::string text;  // one line, names the item and the rule
};
template <class T>
using LedgerResult = boost::system::result<T, LedgerError>;

// Required by boost::system::result for value() on an error.
[[noreturn]] inline void throw_exception_from_error(const LedgerError& error,
                                                    const boost::source_location&) {
  throw std::runtime_error(error.text);
}

// What the standard stages make of a stage of the engine's own.
enum class StageClass : std::uint32_t { kWaiting = 1, kCpu, kDevice, kFinishing, kFinal };

struct LedgerStage {
  std::string name;  // empty: the word of the standard stage
  StageClass stage_class{};
};

struct JobTicket {
  std::uint64_t id = 0;  // 0: the ledger takes one
  std::string_view circuit;
  std::string_view proof_kind;
  std::string_view request;
  std::uint32_t partitions = 1;
  Priority priority = Priority::kNormal;
  std::uint64_t deadline_in_ns = 0;  // 0: none
};

struct Wait {
  WaitReason reason{};
  std::uint64_t needs_bytes = 0;
  std::uint64_t available_bytes = 0;
};

struct PartitionName {
  std::uint64_t job = 0;
  std::uint32_t number = 0;
};

struct JobEnd {
  JobState state{};  // a final one
  FailureClass failure_class{};
  std::string_view text;
};

// Who reserves bytes: a cache by its name, or a partition.
struct Consumer {
  AllocationKind kind{};  // kUnknown: the partition
  std::string_view name;
  PartitionName partition;
};

// A row that has extra fields.
struct ItemName {
  SectionId table{};
  std::uint64_t job = 0;
  std::uint32_t number = 0;
};

class JobLedger {
 public:
  // `stages` empty: the standard ones, in order of a partition's life.
  JobLedger(SegmentWriter writer, const SegmentOptions& options, std::vector<LedgerStage> stages);

  bool is_shared() const { return writer_.is_shared(); }
  const std::filesystem::path& path() const { return writer_.path(); }

  // Life.
  LedgerResult<void> beat();
  void set_life(EngineLife life, std::string_view degraded_reason);
  void close(std::uint32_t exit_code);
  void unlink_name() { writer_.unlink_name(); }
  LedgerResult<std::uint32_t> add_device(Backend kind, std::string_view name,
                                         std::uint32_t threads);
  LedgerResult<void> set_device_state(std::uint32_t device, DeviceState state);
  LedgerResult<std::uint32_t> add_worker(std::uint32_t device);

  // Jobs and partitions.
  LedgerResult<std::uint64_t> submit(const JobTicket& ticket);
  LedgerResult<void> wait(std::uint64_t job, const Wait& wait);
  LedgerResult<void> admit(std::uint64_t job);
  LedgerResult<void> enter_stage(PartitionName name, std::uint32_t stage,
                                 std::optional<std::uint32_t> worker);
  LedgerResult<void> wait(PartitionName name, const Wait& wait);
  LedgerResult<void> begin_again(PartitionName name);
  LedgerResult<void> end(PartitionName name, PartitionStage final_stage, FailureClass why);
  LedgerResult<void> end(std::uint64_t job, const JobEnd& end);

  // Memory.
  LedgerResult<void> set_budget(std::uint64_t bytes);
  LedgerResult<void> reserve(const Consumer& consumer, std::uint64_t bytes);
  LedgerResult<void> release(const Consumer& consumer, std::uint64_t bytes);
  void set_resident(std::uint64_t bytes);

  // Threads, limiters, settings, errors, extra fields.
  LedgerResult<std::uint32_t> add_thread(std::string_view name);
  LedgerResult<void> begin_step(std::uint32_t thread, std::string_view step, std::uint64_t limit_ns,
                                std::uint64_t job);
  LedgerResult<void> remove_thread(std::uint32_t thread);
  LedgerResult<void> set_limiter(const LimiterRecord& limiter);
  LedgerResult<void> set_setting(const SettingRecord& setting);
  LedgerResult<void> note_error(FailureClass failure_class, std::string_view text,
                                std::uint64_t job);
  LedgerResult<void> set_field(const ItemName& item, std::string_view field, std::uint64_t value);
  LedgerResult<void> set_field(const ItemName& item, std::string_view field,
                               std::string_view value);

 private:
  static constexpr std::uint32_t kNoRow = ~std::uint32_t{0};

  // What a job's row does not say.
  struct JobBook {
    std::vector<std::uint32_t> partition_rows;
    std::uint32_t counters_row = 0;
  };
  // One open transaction, and the time of all that happens in it.
  struct Change {
    Transaction& rows;
    Instant now;
  };
  struct FieldPlace {
    std::size_t first_word;
    std::size_t words;
  };

  // Runs edit(change), whose result it gives back; when that is no error the sums follow.
  template <class Edit>
  auto apply(Edit edit) {
    const std::lock_guard lock(mutex_);
    Transaction transaction = writer_.begin();
    Change open{transaction, now()};
    auto result = edit(open);
    if (result) settle(open);
    return result;
  }
  static Instant now();

  // Rows of what a caller names; each error says what is wrong with it.
  LedgerResult<std::uint32_t> job_row(std::uint64_t job) const;
  LedgerResult<std::uint32_t> partition_row(PartitionName name) const;
  LedgerResult<std::uint32_t> live_partition_row(const Change& change, PartitionName name) const;
  LedgerResult<std::uint32_t> worker_for(const Change& change, const PartitionRecord& partition,
                                         std::optional<std::uint32_t> wanted) const;
  LedgerResult<std::uint32_t> item_row(const ItemName& item) const;
  LedgerResult<FieldPlace> field_place(const ItemName& item, std::string_view field,
                                       FieldType type) const;
  LedgerResult<void> store_field(const Change& change, const ItemName& item, FieldPlace place,
                                 const std::uint64_t* words);

  // Steps of a change. They edit; nothing can fail any more.
  void append(const Change& change, Event event, EventType type);
  void append(const Change& change, const JobRecord& job, EventType type, std::uint64_t argument);
  void append(const Change& change, const PartitionRecord& partition, EventType type,
              std::uint64_t argument);
  std::uint32_t counters_row_of(const Change& change, std::string_view proof_kind);
  CountersRecord& counters_of(const Change& change, const JobRecord& job);
  void move_job(const Change& change, JobRecord& job, JobState to);
  void recycle_oldest_job(const Change& change);
  bool has_room(std::uint32_t partitions) const;
  void take_rows(const Change& change, std::uint64_t id, const JobTicket& ticket);
  void leave_stage(const Change& change, PartitionRecord& partition, PartitionStage to);
  void move_partition(const Change& change, std::uint32_t row, PartitionStage to,
                      std::optional<std::uint32_t> worker);
  void mark_times(const Change& change, PartitionRecord& partition, PartitionStage from);
  void hand_over(const Change& change, PartitionRecord& partition,
                 std::optional<std::uint32_t> worker);
  void free_worker(const Change& change, const PartitionRecord& partition);
  void end_partition(const Change& change, std::uint32_t row, PartitionStage final_stage,
                     FailureClass why);
  void end_job(const Change& change, std::uint32_t row, const JobEnd& end);
  void count_error(const Change& change, FailureClass failure_class, std::string_view text,
                   std::uint64_t job);
  void count_time(const Change& change, const PartitionRecord& partition, PartitionStage stage,
                  std::uint64_t duration_ns);
  void change_reserved(const Change& change, std::uint64_t MemoryRecord::*consumer,
                       std::int64_t bytes);
  std::optional<std::uint32_t> allocation_row(const Change& change, const Consumer& consumer) const;
  LedgerResult<void> reserve_cache(const Change& change, const Consumer& consumer,
                                   std::uint64_t bytes);
  LedgerResult<void> release_cache(const Change& change, const Consumer& consumer,
                                   std::uint64_t bytes);
  IdleReason idle_reason() const;

  // Everything that is a sum over the rows of jobs in hand.
  struct Sums;
  void settle(const Change& change);
  Sums sums_of(const Change& change) const;
  HistorySample history_of(const Change& change) const;

  SegmentWriter writer_;
  std::vector<ExtraField> extra_fields_;
  std::vector<LedgerStage> stages_;
  mutable std::mutex mutex_;
  std::mutex beat_mutex_;  // one beat at a time
  std::uint64_t sampled_ns_ = 0;
  EngineLife life_ = EngineLife::kStarting;
  std::uint64_t last_id_ = 0;
  std::uint32_t devices_ = 0;
  std::uint32_t workers_ = 0;
  std::uint32_t kinds_ = 0;  // rows of counters in use, the last one excepted

  std::unordered_map<std::uint64_t, std::uint32_t> job_rows_;  // by the job's number
  std::vector<JobBook> books_;                                 // by job row
  std::vector<std::uint64_t> stage_since_ns_;                  // by partition row
  std::vector<std::uint32_t> free_jobs_;
  std::vector<std::uint32_t> free_partitions_;
  std::vector<std::uint32_t> jobs_in_hand_;   // rows of jobs that are not final
  std::vector<std::uint32_t> finished_jobs_;  // rows, oldest first
};

}  // namespace vitrine::shm
