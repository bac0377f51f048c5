// SPDX-License-Identifier: Apache-2.0
// I4 (no number out of its range), and I6 to I8: the order of times, and what may only grow.
#include <algorithm>
#include <cstring>
#include <initializer_list>

#include "shm/catalogue.h"
#include "shm/invariant_checks.h"

namespace vitrine::shm {
namespace {

struct NamedInstant {
  const char* name;
  Instant instant;
};

void check_order(const std::string& item, std::initializer_list<NamedInstant> instants,
                 Violations& out) {
  const NamedInstant* before = nullptr;
  for (const NamedInstant& next : instants) {
    if (!next.instant.is_set()) continue;
    if (before != nullptr && next.instant.ns < before->instant.ns) {
      out.push_back("I6: " + item + ": " + next.name + " before " + before->name);
    }
    before = &next;
  }
}

std::uint64_t number_at(const Field& field, const void* record) {
  std::uint64_t number = 0;
  if (field.type == FieldType::kU32) {
    std::uint32_t narrow;
    std::memcpy(&narrow, static_cast<const char*>(record) + field.offset_bytes, sizeof(narrow));
    number = narrow;
  } else {
    std::memcpy(&number, static_cast<const char*>(record) + field.offset_bytes, sizeof(number));
  }
  return number;
}

bool is_number(const Field& field) {
  return field.type == FieldType::kU32 || field.type == FieldType::kU64;
}

template <class Record>
std::string place_of(const Record& record, const Field& field) {
  return std::string(TableOf<Record>::kName) + " row " + std::to_string(record.identity.row) + " " +
         std::string(field.name);
}

std::string fell(const std::string& what, std::uint64_t from, std::uint64_t to) {
  return what + " fell from " + std::to_string(from) + " to " + std::to_string(to);
}

template <class Record>
void check_row_growth(const Record& earlier, const Record& later, Violations& out) {
  const Identity& before = earlier.identity;
  const Identity& after = later.identity;
  const std::string row = std::string(TableOf<Record>::kName) + " row " + std::to_string(after.row);
  if (after.stamp < before.stamp) {
    out.push_back("I7: " + fell("stamp of " + row, before.stamp, after.stamp));
  }
  if (after.generation < before.generation) {
    out.push_back("I7: " + fell("generation of " + row, before.generation, after.generation));
  }
  if (after.generation != before.generation) return;
  for (const Field& field : TableOf<Record>::kFields) {
    if (field.semantics != Semantics::kCounter || !is_number(field)) continue;
    const std::uint64_t from = number_at(field, &earlier);
    const std::uint64_t to = number_at(field, &later);
    if (to < from) out.push_back("I8: " + fell(place_of(later, field), from, to));
  }
}

// Calls visit(earlier row, later row) for every row that both snapshots have. Both are in row
// order.
template <class Record, class Visitor>
void for_each_common_row(const Snapshot& earlier, const Snapshot& later, Visitor visit) {
  auto before = earlier.rows<Record>().begin();
  for (const Record& row : later.rows<Record>()) {
    const auto end = earlier.rows<Record>().end();
    while (before != end && before->identity.row < row.identity.row) ++before;
    if (before != end && before->identity.row == row.identity.row) visit(*before, row);
  }
}

void check_done_growth(const JobRecord& earlier, const JobRecord& later, Violations& out) {
  if (earlier.job != later.job || earlier.attempt != later.attempt) return;
  if (later.partitions_done < earlier.partitions_done) {
    out.push_back("I3: " + fell("partitions done of job " + std::to_string(later.job.value),
                                earlier.partitions_done, later.partitions_done));
  }
}

}  // namespace

void check_numbers(const Snapshot& snapshot, Violations& out) {
  for_each_table([&]<class Record>() {
    for (const Record& record : snapshot.rows<Record>()) {
      for (const Field& field : TableOf<Record>::kFields) {
        const bool counts =
            field.semantics == Semantics::kCounter || field.semantics == Semantics::kGauge;
        if (!counts || !is_number(field)) continue;
        // A number that was brought below zero has its sign bit set.
        const int sign_bit = field.type == FieldType::kU32 ? 31 : 63;
        const std::uint64_t number = number_at(field, &record);
        if (number >> sign_bit == 0) continue;
        out.push_back("I4: " + place_of(record, field) + " is " + std::to_string(number));
      }
    }
  });
}

void check_times(const Snapshot& snapshot, Violations& out) {
  for (const JobRecord& job : snapshot.rows<JobRecord>()) {
    check_order("job " + std::to_string(job.job.value),
                {{"submitted", job.submitted},
                 {"admitted", job.admitted},
                 {"started", job.started},
                 {"finished", job.finished}},
                out);
  }
  for (const PartitionRecord& partition : snapshot.rows<PartitionRecord>()) {
    check_order("partition " + std::to_string(partition.partition) + " of job " +
                    std::to_string(partition.job.value),
                {{"created", partition.created},
                 {"synth_start", partition.synth_start},
                 {"synth_end", partition.synth_end},
                 {"gpu_queue", partition.gpu_queue},
                 {"gpu_pickup", partition.gpu_pickup},
                 {"gpu_start", partition.gpu_start},
                 {"gpu_end", partition.gpu_end},
                 {"finished", partition.finished}},
                out);
  }
}

void check_stamps(const Snapshot& snapshot, Violations& out) {
  for_each_table([&]<class Record>() {
    for (const Record& record : snapshot.rows<Record>()) {
      if (record.identity.stamp <= snapshot.commit) continue;
      out.push_back("I7: " + std::string(TableOf<Record>::kName) + " row " +
                    std::to_string(record.identity.row) + " is of commit " +
                    std::to_string(record.identity.stamp) + ", the snapshot of " +
                    std::to_string(snapshot.commit));
    }
  });
}

void check_growth(const Snapshot& earlier, const Snapshot& later, Violations& out) {
  const auto must_grow = [&out](const char* what, std::uint64_t from, std::uint64_t to) {
    if (to < from) out.push_back("I7: " + fell(what, from, to));
  };
  must_grow("commit", earlier.commit, later.commit);
  must_grow("heartbeat", earlier.heartbeat, later.heartbeat);
  must_grow("last event", earlier.last_event_sequence, later.last_event_sequence);
  for_each_table([&]<class Record>() {
    for_each_common_row<Record>(earlier, later, [&out](const Record& before, const Record& after) {
      check_row_growth(before, after, out);
    });
  });
  for_each_common_row<JobRecord>(earlier, later,
                                 [&out](const JobRecord& before, const JobRecord& after) {
                                   check_done_growth(before, after, out);
                                 });
}

}  // namespace vitrine::shm
