// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <csignal>
#include <memory>

#include "shm/clock.h"
#include "shm/paths.h"
#include "tools/recorder.h"
#include "tools/size_text.h"
#include "tools/status_command.h"
#include "tools/stop_signal.h"

namespace vitrine::tools {
namespace {

constexpr std::uint64_t kDefaultIntervalNs = 200'000'000;
constexpr std::uint64_t kShortestIntervalNs = 1'000'000;
// How often the rings are looked at between two frames.
constexpr std::uint64_t kRingLookNs = 20'000'000;

struct RecordFlags {
  std::string out;
  std::optional<std::uint64_t> for_ns;
  std::optional<std::uint64_t> interval_ns;
};

Result<shm::SegmentReader> attach(const CommonFlags& common) {
  const shm::Target target = target_of(common, {});
  const auto record_error = [&](const shm::Error& error) {
    return with_neighbours(reading_error(error), common, {});
  };
  const auto path = shm::find_segment(target.instance, target.path, target.places);
  if (!path) return record_error(path.error());
  auto reader = shm::SegmentReader::attach(*path, target.options);
  if (!reader) return record_error(reader.error());
  return std::move(*reader);
}

// Waits for the time of the next frame; true when the recording is to end.
bool wait_for_next(const Recorder& recorder, StopSignal& stop, std::uint64_t until_ns) {
  while (true) {
    const std::uint64_t now_ns = shm::monotonic_ns();
    const std::uint64_t left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
    if (stop.wait(std::min(left_ns, kRingLookNs))) return true;
    if (left_ns <= kRingLookNs || recorder.must_hurry()) return false;
  }
}

// Why it ended.
Result<const char*> record_frames(Recorder& recorder, const RecordFlags& flags) {
  StopSignal stop;
  const std::uint64_t interval_ns = flags.interval_ns.value_or(kDefaultIntervalNs);
  const std::uint64_t begin_ns = shm::monotonic_ns();
  std::uint64_t next_ns = begin_ns;
  bool is_last = false;
  while (true) {
    const Result<Recorder::Engine> engine = recorder.take_frame();
    if (!engine) return engine.error();
    if (*engine == Recorder::Engine::kGone) return "the engine ended";
    if (is_last) return "stopped";
    const std::uint64_t now_ns = shm::monotonic_ns();
    if (flags.for_ns && now_ns - begin_ns >= *flags.for_ns) return "the time is over";
    // Frames that could not be taken in time are not made up for.
    next_ns = std::max(next_ns + interval_ns, now_ns);
    if (flags.for_ns) next_ns = std::min(next_ns, begin_ns + *flags.for_ns);
    is_last = wait_for_next(recorder, stop, next_ns);
  }
}

std::string summary(const Recorder& recorder, const std::string& out) {
  std::string text = std::to_string(recorder.frames()) + " frames, " +
                     size_text(recorder.size_bytes()) + " in " + out;
  if (recorder.missed_entries() > 0) {
    text += "; " + std::to_string(recorder.missed_entries()) + " events missed";
  }
  if (recorder.left_out() > 0) {
    text += "; " + std::to_string(recorder.left_out()) + " frames left out";
  }
  return text;
}

Result<ExitCode> run_record(const CommandContext& context, const RecordFlags& flags) {
  if (flags.interval_ns && *flags.interval_ns < kShortestIntervalNs) {
    return Error{ExitCode::kUsage, "--interval: frames are at least 1ms apart"};
  }
  Result<shm::SegmentReader> reader = attach(context.flags);
  if (!reader) return reader.error();
  const bool is_dead = !reader->liveness().lock_held;
  // Without it a limit on the file's size would end the program instead of the recording.
  std::signal(SIGXFSZ, SIG_IGN);
  Result<RecordingFile> file = RecordingFile::create(flags.out);
  if (!file) return file.error();
  Result<Recorder> recorder =
      Recorder::start(std::move(*reader), context.flags.attach, std::move(*file));
  if (!recorder) return recorder.error();
  const Result<const char*> ended = record_frames(*recorder, flags);
  if (!ended) return ended.error();
  if (const Result<void> finished = recorder->finish(); !finished) return finished.error();
  if (recorder->frames() == 0) {
    return Error{ExitCode::kUnreadable, flags.out + ": " + *ended +
                                            ", and no moment of the engine could be copied: the "
                                            "recording has no frame"};
  }
  context.diagnostics.info(std::string(*ended) + ": " + summary(*recorder, flags.out));
  return is_dead ? ExitCode::kDead : ExitCode::kOk;
}

}  // namespace

Command record_command() {
  const auto flags = std::make_shared<RecordFlags>();
  return {"record", "Keep the state of an engine over time in a file",
          "0 recorded, also until the engine's end, 1 the file could not be written on, 2 usage or "
          "the file is there already, 3 no such instance, 4 the engine was dead: its last state is "
          "recorded, 5 not readable",
          [flags](FlagSet& set) {
            FlagSet::require(set.text("--out", flags->out, "File to create"));
            set.duration("--for", flags->for_ns, "Record for this long, then end");
            set.duration("--interval", flags->interval_ns, "Time between two frames (200ms)");
          },
          [flags](const CommandContext& context) { return run_record(context, *flags); }};
}

}  // namespace vitrine::tools
