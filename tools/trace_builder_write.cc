// SPDX-License-Identifier: Apache-2.0
// The second half of TraceBuilder: what was collected, as a document.
#include <algorithm>
#include <set>

#include "shm/time_text.h"
#include "tools/trace_builder.h"

namespace vitrine::tools {
namespace {

constexpr std::uint64_t kEngineTrack = 1;
constexpr std::uint64_t kSynthesisTracks = 1000;
constexpr std::uint64_t kWorkerTracks = 1'000'000;

std::string partition_name(std::uint64_t job, std::uint32_t partition) {
  return "job " + std::to_string(job) + " partition " + std::to_string(partition);
}

}  // namespace

void TraceBuilder::write_device_work(TraceDocument& document, const Work& work,
                                     const TraceDocument::Span& span) const {
  TraceDocument::Span part = span;
  const auto within = [&](std::uint64_t at_ns) {
    return std::clamp(at_ns, span.begin_ns, span.end_ns);
  };
  const std::string whose = partition_name(work.job, work.partition);
  if (work.kernels_begin_ns != 0) {
    part.name = "kernels, " + whose;
    part.begin_ns = within(work.kernels_begin_ns);
    part.end_ns = within(work.kernels_end_ns == 0 ? span.end_ns : work.kernels_end_ns);
    document.span(part, {});
  }
  if (work.kernels_end_ns != 0) {
    part.name = "finish, " + whose;
    part.begin_ns = within(work.kernels_end_ns);
    part.end_ns = span.end_ns;
    document.span(part, {});
  }
}

void TraceBuilder::write_work(TraceDocument& document, const Range& whole) const {
  const auto edge_text = [](Edge edge) { return edge == Edge::kNotSeen ? "not seen" : "not yet"; };
  const auto arguments_of = [&](const Work& work) {
    TraceDocument::Arguments arguments = {{"job", TraceDocument::text(std::to_string(work.job))},
                                          {"partition", std::to_string(work.partition)},
                                          {"attempt", std::to_string(work.attempt)}};
    if (work.bytes != 0) arguments.emplace_back("bytes", std::to_string(work.bytes));
    if (!work.outcome.empty()) {
      arguments.emplace_back("outcome", TraceDocument::text(work.outcome));
    }
    if (work.begin != Edge::kSeen) {
      arguments.emplace_back("begin", TraceDocument::text(edge_text(work.begin)));
    }
    if (work.end != Edge::kSeen) {
      arguments.emplace_back("end", TraceDocument::text(edge_text(work.end)));
    }
    return arguments;
  };
  const auto span_of = [&](const Work& work, std::uint64_t track) {
    const Range range = range_of(work, whole);
    return TraceDocument::Span{track, range.begin_ns, range.end_ns,
                               partition_name(work.job, work.partition)};
  };
  const std::vector<std::uint32_t> slots = synthesis_slots(whole);
  const std::set<std::uint32_t> used(slots.begin(), slots.end());
  for (const std::uint32_t slot : used) {
    document.name_track(kSynthesisTracks + slot, "synthesis " + std::to_string(slot));
  }
  for (std::size_t i = 0; i < synthesis_.size(); ++i) {
    document.span(span_of(synthesis_[i], kSynthesisTracks + slots[i]), arguments_of(synthesis_[i]));
  }
  for (const Work& work : device_) {
    const TraceDocument::Span span = span_of(work, kWorkerTracks + work.worker);
    document.span(span, arguments_of(work));
    write_device_work(document, work, span);
    if (!work.synthesis) continue;
    const std::size_t from = *work.synthesis;
    document.flow(span_of(synthesis_[from], kSynthesisTracks + slots[from]), span,
                  "synthesis to device");
  }
}

void TraceBuilder::write_samples(TraceDocument& document) const {
  for (const Sample& sample : samples_) {
    const shm::MemoryRecord& memory = sample.memory;
    document.counter(sample.at_ns, "memory reserved, bytes",
                     {{"srs", std::to_string(memory.srs_bytes)},
                      {"pce", std::to_string(memory.pce_bytes)},
                      {"working", std::to_string(memory.working_bytes)}});
    document.counter(sample.at_ns, "memory resident, bytes",
                     {{"resident", std::to_string(memory.resident_bytes)}});
    for (const auto& [name, depth] : sample.queues) {
      document.counter(sample.at_ns, "queue " + std::string(name),
                       {{"depth", std::to_string(depth)}});
    }
  }
}

std::string TraceBuilder::finish(const shm::SegmentIdentity& identity,
                                 std::int64_t unix_minus_engine_ns) const {
  const Range whole = range();
  TraceDocument document(whole.begin_ns);
  document.name_process("vitrine " + identity.instance + ", pid " + std::to_string(identity.pid) +
                        " on " + identity.host);
  document.name_track(kEngineTrack, "engine");
  std::set<std::uint32_t> workers;
  for (const Work& work : device_) workers.insert(work.worker);
  for (const Mark& mark : marks_) {
    if (mark.worker) workers.insert(*mark.worker);
  }
  for (const std::uint32_t worker : workers) {
    document.name_track(kWorkerTracks + worker, "worker " + std::to_string(worker));
  }
  write_work(document, whole);
  for (const Mark& mark : marks_) {
    document.instant(mark.worker ? kWorkerTracks + *mark.worker : kEngineTrack, mark.at_ns,
                     mark.name, mark.arguments);
  }
  write_samples(document);
  // Untrusted numbers may be anything: the sum is modulo 2^64, as everywhere.
  const auto begin_unix_ns =
      static_cast<std::int64_t>(whole.begin_ns + static_cast<std::uint64_t>(unix_minus_engine_ns));
  return document.finish({{"instance", TraceDocument::text(identity.instance)},
                          {"incarnation", TraceDocument::text(identity.incarnation)},
                          {"engine_version", TraceDocument::text(identity.engine_version)},
                          {"begin_time", TraceDocument::text(shm::rfc3339_ms(begin_unix_ns))},
                          {"events", std::to_string(events_)},
                          {"missed_events", std::to_string(missed_)}});
}

}  // namespace vitrine::tools
