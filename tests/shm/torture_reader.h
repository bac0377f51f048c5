// SPDX-License-Identifier: Apache-2.0
// A reader that follows an instance through the deaths of its writers and checks all it sees.
//
// Cost     what it measures of itself is one call of SegmentReader: by the wall, and by the time
//          that its thread was on a processor. The wall counts the reader's own waiting for a
//          processor; on a virtual machine the other counts what the host takes away. So the
//          checks between the reads, which touch nothing shared, are measured as well: what is
//          slow there is the machine.
#pragma once

#include <time.h>

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

#include "tests/shm/torture_writer.h"

namespace vitrine::shm::testing {

// Times of calls, in buckets an eighth of their size wide.
class Latencies {
 public:
  static constexpr std::uint64_t kSlowNs = 10'000'000;

  void add(std::uint64_t ns) {
    max_ns_ = std::max(max_ns_, ns);
    slow_ += ns > kSlowNs;
    ++count_[bucket_of(ns)];
  }
  void add(const Latencies& other) {
    max_ns_ = std::max(max_ns_, other.max_ns_);
    slow_ += other.slow_;
    for (std::size_t i = 0; i < kBuckets; ++i) count_[i] += other.count_[i];
  }
  std::uint64_t max_ns() const { return max_ns_; }
  std::uint64_t slow() const { return slow_; }  // longer than kSlowNs
  // The upper end of the bucket in which the quantile lies.
  std::uint64_t quantile_ns(double share) const {
    std::uint64_t total = 0;
    for (const std::uint64_t count : count_) total += count;
    auto left = static_cast<std::uint64_t>(share * static_cast<double>(total));
    for (std::size_t i = 0; i < kBuckets; ++i) {
      if (count_[i] > left) return std::min(max_ns_, end_of(i));
      left -= count_[i];
    }
    return max_ns_;
  }

 private:
  static constexpr std::size_t kBuckets = 8 * 61;
  static std::size_t bucket_of(std::uint64_t ns) {
    if (ns < 8) return ns;
    const int shift = std::bit_width(ns) - 4;
    return static_cast<std::size_t>(8 * (shift + 1)) + ((ns >> shift) & 7);
  }
  static std::uint64_t end_of(std::size_t bucket) {
    return bucket < 8 ? bucket + 1 : (bucket % 8 + 9) << (bucket / 8 - 1);
  }

  std::uint64_t max_ns_ = 0;
  std::uint64_t slow_ = 0;
  std::uint64_t count_[kBuckets] = {};
};

struct ReaderTally {
  std::uint64_t snapshots = 0;
  std::uint64_t consistent = 0;
  std::uint64_t tried_again = 0;
  std::uint64_t most_tries = 0;
  std::uint64_t slow_by_trying = 0;  // slow on the processor, and after more than kFewTries
  std::uint64_t overlapped = 0;      // the commit moved while the snapshot was taken
  std::uint64_t events = 0;
  std::uint64_t missed = 0;
  std::uint64_t attachments = 0;
  std::uint64_t deaths = 0;  // of writers, seen while attached
  std::uint64_t faults = 0;
  char first_fault[256] = {};
  Latencies wall;
  Latencies processor;
  Latencies control;  // on the processor, of checks that touch nothing shared

  void add(const ReaderTally& other) {
    snapshots += other.snapshots;
    consistent += other.consistent;
    tried_again += other.tried_again;
    most_tries = std::max(most_tries, other.most_tries);
    slow_by_trying += other.slow_by_trying;
    overlapped += other.overlapped;
    events += other.events;
    missed += other.missed;
    attachments += other.attachments;
    deaths += other.deaths;
    if (faults == 0) std::snprintf(first_fault, sizeof(first_fault), "%s", other.first_fault);
    faults += other.faults;
    wall.add(other.wall);
    processor.add(other.processor);
    control.add(other.control);
  }
  void note(const std::string& fault) {
    if (fault.empty()) return;
    if (faults++ == 0) std::snprintf(first_fault, sizeof(first_fault), "%s", fault.c_str());
  }
};

inline std::uint64_t clock_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// One attachment to one incarnation.
class TortureReader {
 public:
  TortureReader(SegmentReader reader, ReaderTally& tally)
      : reader_(std::move(reader)), plan_(plan_of(reader_.identity())), tally_(tally) {
    ++tally_.attachments;
  }

  // One snapshot and the events since the last; false when the name no longer leads here.
  bool look() {
    take_snapshot();
    take_events();
    if (++looks_ % kLooksPerProbe != 0) return true;
    const Liveness liveness = reader_.liveness();
    if (!liveness.lock_held && !has_seen_death_) {
      has_seen_death_ = true;
      ++tally_.deaths;
      take_snapshot();
      if (!snapshot_.consistent || snapshot_.tries != 1) {
        tally_.note("the last commit of a dead writer cannot be read at once");
      }
    }
    return liveness.name_linked;
  }

 private:
  static constexpr std::uint64_t kLooksPerProbe = 16;
  static constexpr std::uint32_t kFewTries = 4;

  template <class Call>
  auto timed(Call call) {
    const std::uint64_t wall_ns = clock_ns(CLOCK_MONOTONIC);
    const std::uint64_t processor_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    auto result = call();
    tally_.processor.add(clock_ns(CLOCK_THREAD_CPUTIME_ID) - processor_ns);
    tally_.wall.add(clock_ns(CLOCK_MONOTONIC) - wall_ns);
    return result;
  }

  void take_snapshot() {
    const std::uint64_t before = reader_.commit();
    const std::uint64_t slow_before = tally_.processor.slow();
    const auto taken = timed([this] { return reader_.snapshot(snapshot_); });
    const std::uint64_t after = reader_.commit();
    if (!taken) return tally_.note(taken.error().text);
    ++tally_.snapshots;
    tally_.consistent += snapshot_.consistent;
    tally_.tried_again += snapshot_.tries > 1;
    tally_.overlapped += after != before;
    tally_.most_tries = std::max<std::uint64_t>(tally_.most_tries, snapshot_.tries);
    tally_.slow_by_trying += tally_.processor.slow() != slow_before && snapshot_.tries > kFewTries;
    const std::uint64_t check_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    tally_.note(fault_of(plan_, snapshot_));
    tally_.control.add(clock_ns(CLOCK_THREAD_CPUTIME_ID) - check_ns);
    if (snapshot_.commit < before || snapshot_.commit > after) {
      tally_.note("commit " + std::to_string(snapshot_.commit) + " is not between " +
                  std::to_string(before) + " and " + std::to_string(after));
    }
    note_backward_rows();
  }

  // A row's newest version, as snapshots that are not consistent show it, never gets older. A
  // consistent one may be older than a newest that was seen in an open transaction.
  void note_backward_rows() {
    std::size_t table = 0;
    for_each_table([&]<class Record>() {
      if (newest_.size() == table) newest_.emplace_back(plan_.rows_of<Record>());
      for (const Record& record : snapshot_.rows<Record>()) {
        std::uint64_t& newest = newest_[table][record.identity.row];
        if (!snapshot_.consistent && record.identity.stamp < newest) {
          tally_.note("backward: " + std::string(TableOf<Record>::kName));
        }
        newest = std::max(newest, record.identity.stamp);
      }
      ++table;
    });
  }

  void take_events() {
    const auto batch = timed([this] { return reader_.events_after(last_event_, 64); });
    if (!batch) return tally_.note(batch.error().text);
    tally_.note(fault_of(*batch, last_event_));
    last_event_ = batch->last_sequence;
    tally_.events += batch->events.size();
    tally_.missed += batch->missed;
  }

  SegmentReader reader_;
  PlannedState plan_;
  ReaderTally& tally_;
  Snapshot snapshot_;
  std::vector<std::vector<std::uint64_t>> newest_;  // by table and row: highest stamp seen
  std::uint64_t last_event_ = 0;
  std::uint64_t looks_ = 0;
  bool has_seen_death_ = false;
};

inline int read_until(const std::atomic<bool>& is_over, const std::filesystem::path& path,
                      ReaderTally& tally) {
  while (!is_over) {
    auto attached = SegmentReader::attach(path);
    if (!attached) {
      // For a moment after a start the old segment has given up the name and the new one has not
      // got it.
      if (attached.error().kind != ErrorKind::kAbsent) tally.note(attached.error().text);
      std::this_thread::yield();
      continue;
    }
    TortureReader reader(std::move(*attached), tally);
    while (!is_over && reader.look()) {
    }
  }
  return 0;
}

}  // namespace vitrine::shm::testing
