// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include "shm/clock.h"
#include "shm/paths.h"
#include "tools/atomic_file.h"
#include "tools/status_command.h"
#include "tools/stop_signal.h"
#include "tools/trace_builder.h"

namespace vitrine::tools {
namespace {

constexpr std::uint64_t kLookEveryNs = 50'000'000;
constexpr std::size_t kLookEvents = 4096;

struct TraceFlags {
  StatusFlags status;
  std::string out;
  std::optional<std::uint64_t> for_ns;
};

// Reads one incarnation into a trace.
class TraceSource {
 public:
  explicit TraceSource(shm::SegmentReader reader) : reader_(std::move(reader)) {}

  // All frames of a recording, or all that a segment holds now.
  Result<void> read_all() {
    do {
      if (auto read = look(); !read) return read;
    } while (reader_.next_frame());
    return {};
  }

  // Until the time is over, a signal comes or the engine is gone.
  Result<void> follow(std::uint64_t for_ns) {
    StopSignal stop;
    const std::uint64_t end_ns = shm::monotonic_ns() + for_ns;
    bool is_last = false;
    while (true) {
      const bool was_alive = reader_.liveness().lock_held;
      if (auto read = look(); !read) return read;
      const std::uint64_t now_ns = shm::monotonic_ns();
      if (is_last || !was_alive || now_ns >= end_ns) return {};
      is_last = stop.wait(std::min(kLookEveryNs, end_ns - now_ns));
    }
  }

  std::string finish() const {
    return builder_.finish(reader_.identity(), clock_.unix_minus_monotonic_ns);
  }
  std::uint64_t events() const { return builder_.events(); }

 private:
  Result<void> look() {
    if (const auto taken = reader_.snapshot(clock_); !taken) return reading_error(taken.error());
    builder_.sample(clock_);
    while (true) {
      const auto batch = reader_.events_after(reached_, kLookEvents);
      if (!batch) return reading_error(batch.error());
      builder_.add_gap(batch->missed);
      for (const shm::Event& event : batch->events) builder_.add(event);
      reached_ = batch->last_sequence;
      if (batch->events.empty()) return {};
    }
  }

  shm::SegmentReader reader_;
  TraceBuilder builder_;
  shm::Snapshot clock_;
  std::uint64_t reached_ = 0;
};

shm::Result<shm::SegmentReader> open_source(const shm::Target& target) {
  if (!target.file) {
    const auto path = shm::find_segment(target.instance, target.path, target.places);
    if (!path) return path.error();
    return shm::SegmentReader::attach(*path, target.options);
  }
  // A recording is walked from its first frame, a dead segment is all there is.
  auto recording = shm::RecordingReader::open(*target.file);
  if (!recording) return shm::SegmentReader::open_file(*target.file);
  return shm::SegmentReader::of_recording(std::move(*recording));
}

Result<ExitCode> run_trace(const CommandContext& context, const TraceFlags& flags) {
  if (flags.for_ns && !flags.status.file.empty()) {
    return Error{ExitCode::kUsage, "--for: a file is traced whole; --for follows a live engine"};
  }
  auto reader = open_source(target_of(context.flags, flags.status));
  if (!reader) return with_neighbours(reading_error(reader.error()), context.flags, flags.status);
  TraceSource source(std::move(*reader));
  const Result<void> read = flags.for_ns ? source.follow(*flags.for_ns) : source.read_all();
  if (!read) return read.error();
  if (auto written = write_file_atomically(flags.out, source.finish()); !written) {
    return written.error();
  }
  context.diagnostics.info(std::to_string(source.events()) + " events in " + flags.out +
                           "; open it in ui.perfetto.dev or chrome://tracing");
  return ExitCode::kOk;
}

}  // namespace

Command trace_command() {
  const auto flags = std::make_shared<TraceFlags>();
  return {"trace", "The timeline as a file for a trace viewer (Perfetto, Chrome)",
          "0 written, 1 the file could not be written, 2 usage, 3 no such instance, 5 not readable",
          [flags](FlagSet& set) {
            FlagSet::require(set.text("--out", flags->out, "File to write"));
            set.text("--file", flags->status.file,
                     "A recording or a dead segment, instead of an instance");
            set.duration("--for", flags->for_ns,
                         "Go on for this long with what happens; else only what is there");
          },
          [flags](const CommandContext& context) { return run_trace(context, *flags); }};
}

}  // namespace vitrine::tools
