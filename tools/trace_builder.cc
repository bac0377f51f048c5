// SPDX-License-Identifier: Apache-2.0
#include "tools/trace_builder.h"

#include <algorithm>
#include <numeric>

namespace vitrine::tools {
namespace {

using shm::EventType;

bool is_final(EventType type) {
  return type == EventType::kPartitionDone || type == EventType::kPartitionFail ||
         type == EventType::kPartitionCancel;
}

std::string_view outcome_of(EventType type) {
  switch (type) {
    case EventType::kPartitionDone:
      return "done";
    case EventType::kPartitionFail:
      return "failed";
    case EventType::kPartitionCancel:
      return "cancelled";
    default:
      return "";
  }
}

}  // namespace

TraceBuilder::Work TraceBuilder::work_of(const shm::Event& event) {
  Work work;
  work.job = event.job.value;
  work.partition = event.partition.is_set() ? event.partition.number() : 0;
  work.attempt = event.attempt;
  work.worker = event.worker.is_set() ? event.worker.number() : 0;
  return work;
}

void TraceBuilder::add(const shm::Event& event) {
  if (!event.time.is_set()) return add_gap(1);
  const std::uint64_t at_ns = event.time.ns;
  if (events_++ == 0) first_ns_ = last_ns_ = at_ns;
  first_ns_ = std::min(first_ns_, at_ns);
  last_ns_ = std::max(last_ns_, at_ns);
  if (gap_ > 0) {
    // What was overwritten before the first event is only the past.
    if (events_ > 1) close_open(at_ns);
    marks_.push_back({at_ns, {}, std::to_string(gap_) + " events missed", {}});
    missed_ += gap_;
    gap_ = 0;
  }
  if (!event.partition.is_set()) return mark(event);
  Doing& doing = doing_[{event.job.value, event.partition.number()}];
  switch (event.type) {
    case EventType::kSynthStart:
      return begin_synthesis(event, doing);
    case EventType::kSynthEnd:
      return end_synthesis(event, doing, "");
    case EventType::kGpuPickup:
      return pick_up(event, doing);
    case EventType::kGpuStart:
      device_work(event, doing).kernels_begin_ns = at_ns;
      return;
    case EventType::kGpuEnd:
      device_work(event, doing).kernels_end_ns = at_ns;
      return;
    default:
      if (is_final(event.type)) end_partition(event, doing);
      mark(event);
  }
}

void TraceBuilder::begin_synthesis(const shm::Event& event, Doing& doing) {
  if (doing.synthesis) {  // of an attempt whose end was not told
    synthesis_[*doing.synthesis].end_ns = event.time.ns;
    synthesis_[*doing.synthesis].end = Edge::kNotSeen;
  }
  Work work = work_of(event);
  work.begin_ns = event.time.ns;
  work.end = Edge::kNotYet;
  work.bytes = event.argument;
  doing.synthesis = synthesis_.size();
  synthesis_.push_back(work);
}

void TraceBuilder::end_synthesis(const shm::Event& event, Doing& doing, std::string_view outcome) {
  if (!doing.synthesis) {
    Work work = work_of(event);
    work.begin = Edge::kNotSeen;
    work.bytes = outcome.empty() ? event.argument : 0;
    doing.synthesis = synthesis_.size();
    synthesis_.push_back(work);
  }
  Work& work = synthesis_[*doing.synthesis];
  work.end_ns = event.time.ns;
  work.end = Edge::kSeen;
  work.outcome = outcome;
  doing.last_synthesis = doing.synthesis;
  doing.synthesis.reset();
}

// The open work of the partition on a worker; begun before the trace when it was not seen.
TraceBuilder::Work& TraceBuilder::device_work(const shm::Event& event, Doing& doing) {
  if (!doing.device) {
    Work work = work_of(event);
    work.begin = Edge::kNotSeen;
    work.end = Edge::kNotYet;
    if (const auto held = in_hand_.find(work.worker); held != in_hand_.end()) {
      device_[held->second].end_ns = event.time.ns;
      device_[held->second].end = Edge::kNotSeen;
      work.begin_ns = event.time.ns;
    }
    doing.device = device_.size();
    in_hand_[work.worker] = device_.size();
    device_.push_back(work);
  }
  return device_[*doing.device];
}

void TraceBuilder::pick_up(const shm::Event& event, Doing& doing) {
  doing.device.reset();
  const auto held = in_hand_.find(event.worker.is_set() ? event.worker.number() : 0);
  if (held != in_hand_.end()) {
    const Work& old = device_[held->second];
    doing_[{old.job, old.partition}].device.reset();
  }
  Work& work = device_work(event, doing);
  work.begin = Edge::kSeen;
  work.begin_ns = event.time.ns;
  work.synthesis = doing.last_synthesis;
}

void TraceBuilder::end_partition(const shm::Event& event, Doing& doing) {
  const std::string_view outcome = outcome_of(event.type);
  if (doing.synthesis) end_synthesis(event, doing, outcome);
  // One that a worker had before the trace began is known by its worker alone.
  if (doing.device || event.worker.is_set()) {
    Work& work = device_work(event, doing);
    work.end_ns = event.time.ns;
    work.end = Edge::kSeen;
    work.outcome = outcome;
    in_hand_.erase(work.worker);
  }
  doing_.erase({event.job.value, event.partition.number()});
}

// Failures and what is of no partition.
void TraceBuilder::mark(const shm::Event& event) {
  const bool is_ordinary = event.type == EventType::kGpuQueue ||
                           event.type == EventType::kPartitionDone ||
                           event.type == EventType::kWait || event.type == EventType::kUnknown;
  if (is_ordinary) return;
  Mark mark{event.time.ns, {}, std::string(shm::word(event.type)), {}};
  if (event.worker.is_set()) mark.worker = event.worker.number();
  if (event.job.value != 0) {
    mark.name += " job " + std::to_string(event.job.value);
    mark.arguments.emplace_back("job", TraceDocument::text(std::to_string(event.job.value)));
  }
  if (event.partition.is_set()) {
    mark.name += " partition " + std::to_string(event.partition.number());
    mark.arguments.emplace_back("partition", std::to_string(event.partition.number()));
  }
  const bool is_failure = event.type == EventType::kFail || event.type == EventType::kCancel ||
                          event.type == EventType::kPartitionFail;
  if (is_failure) {
    const auto failure = static_cast<shm::FailureClass>(event.argument);
    mark.arguments.emplace_back("class", TraceDocument::text(shm::word(failure)));
  }
  marks_.push_back(std::move(mark));
}

// What went on at a gap in the events may have ended in it.
void TraceBuilder::close_open(std::uint64_t at_ns) {
  for (auto* works : {&synthesis_, &device_}) {
    for (Work& work : *works) {
      if (work.end != Edge::kNotYet) continue;
      work.end = Edge::kNotSeen;
      work.end_ns = at_ns;
    }
  }
  doing_.clear();
  in_hand_.clear();
}

void TraceBuilder::sample(const shm::Snapshot& snapshot) {
  Sample sample;
  sample.at_ns = snapshot.heartbeat_monotonic_ns + snapshot.heartbeat_age_ns;
  sample.memory = snapshot.memory();
  for (const shm::QueueRecord& queue : snapshot.rows<shm::QueueRecord>()) {
    sample.queues.emplace_back(shm::word(queue.name), queue.depth);
  }
  if (!samples_.empty() && samples_.back().at_ns >= sample.at_ns) return;
  samples_.push_back(std::move(sample));
}

TraceBuilder::Range TraceBuilder::range() const {
  Range range{first_ns_, last_ns_};
  if (samples_.empty()) return range;
  if (events_ == 0) range = {samples_.front().at_ns, samples_.back().at_ns};
  return {std::min(range.begin_ns, samples_.front().at_ns),
          std::max(range.end_ns, samples_.back().at_ns)};
}

TraceBuilder::Range TraceBuilder::range_of(const Work& work, const Range& whole) const {
  const std::uint64_t begin_ns = work.begin_ns == 0 ? whole.begin_ns : work.begin_ns;
  return {begin_ns, std::max(begin_ns, work.end_ns == 0 ? whole.end_ns : work.end_ns)};
}

// Greedy: each stretch goes to the first slot that is free when it begins.
std::vector<std::uint32_t> TraceBuilder::synthesis_slots(const Range& whole) const {
  std::vector<std::size_t> order(synthesis_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {},
                           [&](std::size_t i) { return range_of(synthesis_[i], whole).begin_ns; });
  std::vector<std::uint32_t> slots(synthesis_.size());
  std::vector<std::uint64_t> free_from_ns;
  for (const std::size_t i : order) {
    const Range range = range_of(synthesis_[i], whole);
    const auto free = std::ranges::find_if(
        free_from_ns, [&](std::uint64_t from_ns) { return from_ns <= range.begin_ns; });
    slots[i] = static_cast<std::uint32_t>(free - free_from_ns.begin());
    if (free == free_from_ns.end()) free_from_ns.push_back(0);
    free_from_ns[slots[i]] = range.end_ns;
  }
  return slots;
}

}  // namespace vitrine::tools
