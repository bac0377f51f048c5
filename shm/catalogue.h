// SPDX-License-Identifier: Apache-2.0
// The catalogue: one row for every member of every record, and one entry for every table. JSON
// keys, metric names, CSV columns and the schema text all derive from it; a name that is not here
// does not exist.
//
// Why   one source keeps the structs, the documents and the outputs from drifting apart. To add a
//       value: one member in records.h, one row in catalogue_fields.h, one store in the publisher.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>

#include "shm/catalogue_fields.h"
#include "shm/records.h"

namespace vitrine::shm {

// The typed table of sections names these; numbers are never reused.
enum class SectionId : std::uint32_t {
  kNone,
  kHotLines,
  kEngine,
  kDevices,
  kWorkers,
  kMemory,
  kAllocations,
  kQueues,
  kJobs,
  kPartitions,
  kCounters,
  kBuffers,
  kEvents,
  kSchema,
  kThreads,
  kLimiters,
  kStageTimes,
  kSettings,
  kErrors,
  kHistory,
  kLastWords
};

// Specialised for every record: its section, its JSON name and its fields.
template <class Record>
struct TableOf;

#define VITRINE_TABLE(Record, section, json_name, fields)                         \
  template <>                                                                     \
  struct TableOf<Record> {                                                        \
    static constexpr SectionId kSection = SectionId::section;                     \
    static constexpr std::string_view kName = json_name;                          \
    static constexpr std::span<const Field> kFields{fields};                      \
  };                                                                              \
  static_assert(sizeof(Record) % 8 == 0 && std::is_trivially_copyable_v<Record>); \
  static_assert(covers_record(fields, sizeof(Record)), "catalogue misses a member of " json_name)

VITRINE_TABLE(EngineRecord, kEngine, "engine", kEngineFields);
VITRINE_TABLE(DeviceRecord, kDevices, "devices", kDeviceFields);
VITRINE_TABLE(WorkerRecord, kWorkers, "workers", kWorkerFields);
VITRINE_TABLE(MemoryRecord, kMemory, "memory", kMemoryFields);
VITRINE_TABLE(AllocationRecord, kAllocations, "allocations", kAllocationFields);
VITRINE_TABLE(QueueRecord, kQueues, "queues", kQueueFields);
VITRINE_TABLE(JobRecord, kJobs, "jobs", kJobFields);
VITRINE_TABLE(PartitionRecord, kPartitions, "partitions", kPartitionFields);
VITRINE_TABLE(CountersRecord, kCounters, "counters", kCountersFields);
VITRINE_TABLE(BuffersRecord, kBuffers, "buffers", kBuffersFields);
VITRINE_TABLE(ThreadRecord, kThreads, "threads", kThreadFields);
VITRINE_TABLE(LimiterRecord, kLimiters, "limiters", kLimiterFields);
VITRINE_TABLE(StageTimesRecord, kStageTimes, "stage_times", kStageTimesFields);
VITRINE_TABLE(SettingRecord, kSettings, "settings", kSettingFields);
VITRINE_TABLE(ErrorRecord, kErrors, "errors", kErrorFields);
#undef VITRINE_TABLE

static_assert(covers_record(kEventFields, sizeof(Event)));
static_assert(covers_record(kHistoryFields, sizeof(HistorySample)));
static_assert(covers_record(kLastWordsFields, sizeof(LastWords)));

// Tables of one row, which outputs show as an object instead of a list.
constexpr bool has_one_row(SectionId section) {
  return section == SectionId::kEngine || section == SectionId::kMemory ||
         section == SectionId::kBuffers;
}

// Every record that has a table, in the order a snapshot copies them: the records that change most
// often first, so that they are youngest when the copy ends.
template <class... Records>
struct RecordList {
  // std::tuple<Holder<Record>...>
  template <template <class> class Holder>
  using Each = std::tuple<Holder<Records>...>;

  template <class Visitor>
  static constexpr void visit(Visitor&& visitor) {
    (visitor.template operator()<Records>(), ...);
  }
};
using TableRecords =
    RecordList<PartitionRecord, WorkerRecord, ThreadRecord, JobRecord, MemoryRecord, QueueRecord,
               BuffersRecord, CountersRecord, EngineRecord, DeviceRecord, AllocationRecord,
               LimiterRecord, StageTimesRecord, ErrorRecord, SettingRecord>;

// Calls visit.template operator()<Record>() for every table.
template <class Visitor>
constexpr void for_each_table(Visitor&& visit) {
  TableRecords::visit(visit);
}

}  // namespace vitrine::shm
