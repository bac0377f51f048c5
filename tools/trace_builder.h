// SPDX-License-Identifier: Apache-2.0
// TraceBuilder: from events and snapshots of one incarnation to a trace.
//
// Layout   one track for the engine, one per synthesis slot, one per worker; on a worker's track a
//          partition's time in its hands, and within it the kernels and the finish.
// Why      spans whose beginning or end was not seen are drawn to the trace's edge or to the gap,
//          and say so in their arguments: `begin` and `end` then read "not seen" or "not yet".
// Threads  one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "shm/segment_reader.h"
#include "shm/snapshot.h"
#include "tools/trace_document.h"

namespace vitrine::tools {

class TraceBuilder {
 public:
  // In the order of their sequence. One without a time has no place: it counts as not seen.
  void add(const shm::Event& event);
  // `count` events before the next one were not seen.
  void add_gap(std::uint64_t count) { gap_ += count; }
  // One point of each counter.
  void sample(const shm::Snapshot& snapshot);

  std::uint64_t events() const { return events_; }
  // The whole trace as JSON.
  std::string finish(const shm::SegmentIdentity& identity, std::int64_t unix_minus_engine_ns) const;

 private:
  enum class Edge { kSeen, kNotSeen, kNotYet };
  // A stretch of work on a track.
  struct Work {
    std::uint64_t job = 0;
    std::uint32_t partition = 0;
    std::uint32_t attempt = 0;
    std::uint64_t begin_ns = 0;  // zero: before the trace
    std::uint64_t end_ns = 0;    // zero: after the trace
    Edge begin = Edge::kSeen;
    Edge end = Edge::kSeen;
    std::string_view outcome;  // of the partition, when it ended here
    std::uint64_t bytes = 0;
    std::uint32_t worker = 0;
    std::uint64_t kernels_begin_ns = 0;  // zero: not seen
    std::uint64_t kernels_end_ns = 0;
    std::optional<std::size_t> synthesis;  // where its witness was synthesized
  };
  struct Mark {
    std::uint64_t at_ns = 0;
    std::optional<std::uint32_t> worker;
    std::string name;
    TraceDocument::Arguments arguments;
  };
  struct Sample {
    std::uint64_t at_ns = 0;
    shm::MemoryRecord memory;
    std::vector<std::pair<std::string_view, std::uint32_t>> queues;
  };
  // What a partition is doing, as far as the events told.
  struct Doing {
    std::optional<std::size_t> synthesis;  // index, open
    std::optional<std::size_t> device;
    std::optional<std::size_t> last_synthesis;  // ended, for the arrow
  };
  using Key = std::pair<std::uint64_t, std::uint32_t>;
  struct Range {
    std::uint64_t begin_ns;
    std::uint64_t end_ns;
  };

  static Work work_of(const shm::Event& event);
  void begin_synthesis(const shm::Event& event, Doing& doing);
  void end_synthesis(const shm::Event& event, Doing& doing, std::string_view outcome);
  Work& device_work(const shm::Event& event, Doing& doing);
  void pick_up(const shm::Event& event, Doing& doing);
  void end_partition(const shm::Event& event, Doing& doing);
  void mark(const shm::Event& event);
  void close_open(std::uint64_t at_ns);
  Range range() const;
  Range range_of(const Work& work, const Range& whole) const;
  void write_work(TraceDocument& document, const Range& whole) const;
  void write_device_work(TraceDocument& document, const Work& work,
                         const TraceDocument::Span& span) const;
  std::vector<std::uint32_t> synthesis_slots(const Range& whole) const;
  void write_samples(TraceDocument& document) const;

  std::map<Key, Doing> doing_;
  std::map<std::uint32_t, std::size_t> in_hand_;  // by worker: open work
  std::vector<Work> synthesis_;
  std::vector<Work> device_;
  std::vector<Mark> marks_;
  std::vector<Sample> samples_;
  std::uint64_t gap_ = 0;
  std::uint64_t missed_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t first_ns_ = 0;
  std::uint64_t last_ns_ = 0;
};

}  // namespace vitrine::tools
