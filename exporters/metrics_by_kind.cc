// SPDX-License-Identifier: Apache-2.0
#include "exporters/metrics_by_kind.h"

#include <algorithm>
#include <string>

#include "exporters/metric_names.h"

namespace vitrine::exporters {
namespace {

using shm::CountersRecord;
using shm::JobRecord;
using shm::PartitionStage;
using shm::StageTimesRecord;

template <class Record, class Number>
struct Part {
  const char* word;
  Number Record::*member;
};

constexpr Part<CountersRecord, std::uint64_t> kJobStates[] = {
    {"received", &CountersRecord::received},
    {"queued", &CountersRecord::queued},
    {"admitting", &CountersRecord::admitting},
    {"running", &CountersRecord::running},
    {"assembling", &CountersRecord::assembling}};

constexpr Part<CountersRecord, std::uint64_t> kJobResults[] = {
    {"done", &CountersRecord::done},
    {"failed", &CountersRecord::failed},
    {"cancelled", &CountersRecord::cancelled},
    {"refused", &CountersRecord::refused},
    {"lost", &CountersRecord::lost}};

constexpr Part<CountersRecord, std::uint64_t> kPartitionResults[] = {
    {"done", &CountersRecord::partitions_done},
    {"failed", &CountersRecord::partitions_failed},
    {"cancelled", &CountersRecord::partitions_cancelled}};

constexpr Part<JobRecord, std::uint32_t> kPartitionStates[] = {
    {"pending", &JobRecord::partitions_pending},
    {"witnessing", &JobRecord::partitions_witnessing},
    {"synthesizing", &JobRecord::partitions_synthesizing},
    {"gpu_queued", &JobRecord::partitions_gpu_queued},
    {"gpu_proving", &JobRecord::partitions_gpu_proving},
    {"finishing", &JobRecord::partitions_finishing}};

// Few enough that all kinds and phases together stay a bounded number of series, and each a bound
// of the engine's own, so that the counts are exact.
constexpr std::uint64_t kMs = shm::Histogram::kMs;
constexpr std::uint64_t kBoundsNs[] = {10 * kMs,    50 * kMs,     200 * kMs,     1'000 * kMs,
                                       5'000 * kMs, 20'000 * kMs, 100'000 * kMs, 1'000'000 * kMs};
static_assert(std::ranges::all_of(kBoundsNs, [](std::uint64_t bound_ns) {
  return std::ranges::find(shm::Histogram::kBoundsNs, bound_ns) != shm::Histogram::kBoundsNs.end();
}));

MetricLabels labels_of(const std::string& kind, const char* name, std::string_view word) {
  return {{"proof_kind", kind}, {name, std::string(word)}};
}

// Of a kind that has jobs there is also a zero: an absent series cannot be told from a lost one.
void add_counts(MetricFamilies& families, const shm::Snapshot& snapshot, BoundedLabel& kinds) {
  for (const CountersRecord& row : snapshot.rows<CountersRecord>()) {
    const std::string kind = kinds.value_of(row.proof_kind.view());
    for (const auto& [word, member] : kJobStates) {
      families.add(composed("vitrine_jobs"), labels_of(kind, "state", word), row.*member);
    }
    for (const auto& [word, member] : kJobResults) {
      families.add(composed("vitrine_jobs_finished_total"), labels_of(kind, "result", word),
                   row.*member);
    }
    for (const auto& [word, member] : kPartitionResults) {
      families.add(composed("vitrine_partitions_finished_total"), labels_of(kind, "result", word),
                   row.*member);
    }
    for (const auto& [word, member] : kPartitionStates) {
      families.add(composed("vitrine_partitions"), labels_of(kind, "state", word),
                   std::uint64_t{0});
    }
  }
  for (const JobRecord& job : snapshot.rows<JobRecord>()) {
    if (shm::is_final(job.state)) continue;
    const std::string kind = kinds.value_of(job.proof_kind.view());
    for (const auto& [word, member] : kPartitionStates) {
      families.add(composed("vitrine_partitions"), labels_of(kind, "state", word),
                   std::uint64_t{job.*member});
    }
  }
}

// The engine's buckets, several of them in one.
MetricDistribution distribution_of(const StageTimesRecord& row) {
  MetricDistribution spread;
  for (const std::uint64_t bound_ns : kBoundsNs) spread.buckets.push_back({{bound_ns}, 0});
  spread.sum.ns = row.sum_ns;
  for (std::size_t i = 0; i < row.times.counts.size(); ++i) {
    const std::uint64_t bound_ns =
        i < shm::Histogram::kBoundsNs.size() ? shm::Histogram::kBoundsNs[i] : ~std::uint64_t{0};
    const auto bucket = std::ranges::find_if(spread.buckets, [&](const MetricBucket& candidate) {
      return bound_ns <= candidate.bound.ns;
    });
    add_saturating(bucket == spread.buckets.end() ? spread.beyond : bucket->count,
                   row.times.counts[i]);
  }
  return spread;
}

void add_durations(MetricFamilies& families, const shm::Snapshot& snapshot, BoundedLabel& kinds) {
  for (const StageTimesRecord& row : snapshot.rows<StageTimesRecord>()) {
    const std::string kind = kinds.value_of(row.proof_kind.view());
    families.add(composed("vitrine_partition_phase_duration_seconds"),
                 labels_of(kind, "phase", shm::word(row.stage)), distribution_of(row));
  }
}

}  // namespace

void add_metrics_by_kind(MetricFamilies& families, const shm::Snapshot& snapshot,
                         BoundedLabel& kinds) {
  add_counts(families, snapshot, kinds);
  add_durations(families, snapshot, kinds);
}

}  // namespace vitrine::exporters
