// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "shm/clock.h"
#include "shm/frame_player.h"
#include "shm/paths.h"
#include "shm/raw_segment_writer.h"
#include "shm/recording_reader.h"
#include "tools/command.h"
#include "tools/stop_signal.h"

namespace vitrine::tools {
namespace {

constexpr std::uint64_t kBeatEveryNs = 50'000'000;
// Of a heart that is promised to beat more seldom than that, standing is not told.
constexpr std::uint64_t kStandsAfterNs = 3 * std::uint64_t{2'000'000'000};

struct ReplayFlags {
  std::string recording;
  std::string speed = "1";
  bool loop = false;
  bool hold = false;
};

Error replay_error(const shm::Error& error) {
  switch (error.kind) {
    case shm::ErrorKind::kAbsent:
    case shm::ErrorKind::kInUse:
      return {ExitCode::kNoInstance, error.text};
    case shm::ErrorKind::kSystem:
      return {ExitCode::kFailed, error.text};
    default:
      return {ExitCode::kUnreadable, error.text};
  }
}

Result<double> speed_of(const std::string& text) {
  double speed = 0;
  const char* end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, speed, std::chars_format::fixed);
  if (problem != std::errc{} || rest != end || !(speed >= 0.01 && speed <= 10'000)) {
    return Error{ExitCode::kUsage, "--speed: '" + text + "' is not a number from 0.01 to 10000"};
  }
  return speed;
}

std::string instance_of(const CommonFlags& common, const shm::RawLayout& layout) {
  constexpr std::size_t kInstanceMax = 32;
  // The variable names the engine to look at; a recording does not take that one's place.
  const char* looked_at = std::getenv("VITRINE_INSTANCE");
  const bool is_asked_for = looked_at == nullptr || common.instance != looked_at;
  if (common.is_instance_given && is_asked_for) return common.instance;
  const auto& recorded = layout.header.instance;
  const std::string name(recorded.data(), strnlen(recorded.data(), recorded.size()));
  const std::string instance = ("replay-" + name).substr(0, kInstanceMax);
  return shm::is_instance_name(instance) ? instance : "replay";
}

// One pass over a recording, as one incarnation.
class Replay {
 public:
  Replay(shm::RecordingReader recording, shm::RawSegmentWriter writer, double speed)
      : recording_(std::move(recording)),
        writer_(std::move(writer)),
        player_(recording_.layout(), writer_.bytes(), shm::FramePlayer::Clock::kCallers),
        speed_(speed) {}

  // Plays the first frame, which is there already, and lets readers find the segment.
  Result<void> begin();
  // Plays the others in their time; true when a signal came.
  Result<bool> play(StopSignal& stop);
  // Stays as it is until a signal comes.
  void hold(StopSignal& stop);
  // To readers it ends as its engine did, else as one that exits: a replay that is over is no
  // crash.
  void end() {
    if (recording_.moment().lock_held) writer_.close();
    writer_.unlink_name();
  }
  const shm::RecordingReader& recording() const { return recording_; }

 private:
  Result<void> play_frame();
  std::uint64_t engine_now_ns() const;
  void beat();

  shm::RecordingReader recording_;
  shm::RawSegmentWriter writer_;
  shm::FramePlayer player_;
  double speed_;
  std::uint64_t begin_ns_ = 0;         // on our clock
  std::uint64_t first_engine_ns_ = 0;  // on the recorded one
};

Result<void> Replay::play_frame() {
  if (const auto played = player_.play(recording_.payload()); !played) {
    return Error{ExitCode::kUnreadable, recording_.name() + ": " + played.error().text};
  }
  return {};
}

// What the recorded clock shows now, at the speed of the replay.
std::uint64_t Replay::engine_now_ns() const {
  const double passed_ns = static_cast<double>(shm::monotonic_ns() - begin_ns_) * speed_;
  return first_engine_ns_ + static_cast<std::uint64_t>(passed_ns);
}

// A heart that stood when it was recorded stands again.
void Replay::beat() {
  if (recording_.moment().heartbeat_stood_ns > kStandsAfterNs) return;
  writer_.beat(engine_now_ns());
}

Result<void> Replay::begin() {
  if (auto played = play_frame(); !played) return played;
  first_engine_ns_ = recording_.moment().taken_engine_ns;
  begin_ns_ = shm::monotonic_ns();
  beat();
  if (const auto linked = writer_.link(); !linked) return replay_error(linked.error());
  return {};
}

Result<bool> Replay::play(StopSignal& stop) {
  while (recording_.next()) {
    const std::uint64_t frame_ns = recording_.moment().taken_engine_ns;
    while (engine_now_ns() < frame_ns) {
      const auto left_ns =
          static_cast<std::uint64_t>(static_cast<double>(frame_ns - engine_now_ns()) / speed_);
      if (stop.wait(std::min(left_ns, kBeatEveryNs))) return true;
      beat();
    }
    if (auto played = play_frame(); !played) return played.error();
    beat();
  }
  return stop.wait(0);
}

// The engine beats on, but its clock stays at the last frame.
void Replay::hold(StopSignal& stop) {
  while (!stop.wait(kBeatEveryNs)) writer_.beat(recording_.moment().taken_engine_ns);
}

Result<Replay> open_replay(const CommonFlags& common, const ReplayFlags& flags, double speed) {
  auto recording = shm::RecordingReader::open(flags.recording);
  if (!recording) return replay_error(recording.error());
  if (!recording->next()) {
    return Error{ExitCode::kUnreadable,
                 flags.recording + ": a recording without a whole frame: " + recording->note()};
  }
  const std::string instance = instance_of(common, recording->layout());
  const std::filesystem::path path = common.segment.empty() ? shm::default_segment_path(instance)
                                                            : std::filesystem::path(common.segment);
  auto writer = shm::RawSegmentWriter::create(recording->layout(), path, instance);
  if (!writer) return replay_error(writer.error());
  return Replay(std::move(*recording), std::move(*writer), speed);
}

Result<ExitCode> run_replay(const CommandContext& context, const ReplayFlags& flags) {
  const Result<double> speed = speed_of(flags.speed);
  if (!speed) return speed.error();
  StopSignal stop;
  bool is_stopped = false;
  do {
    Result<Replay> replay = open_replay(context.flags, flags, *speed);
    if (!replay) return replay.error();
    const std::string instance = instance_of(context.flags, replay->recording().layout());
    if (auto begun = replay->begin(); !begun) return begun.error();
    context.diagnostics.info("replaying " + flags.recording + " as instance " + instance);
    const Result<bool> played = replay->play(stop);
    if (!played) {
      replay->end();
      return played.error();
    }
    is_stopped = *played;
    const bool ends_well = replay->recording().end() == shm::RecordingEnd::kFinished;
    if (!is_stopped && !ends_well) context.diagnostics.warn(replay->recording().note());
    if (!is_stopped && flags.hold && !flags.loop) {
      context.diagnostics.info("at the last frame; holding it until a signal comes");
      replay->hold(stop);
    }
    replay->end();
  } while (flags.loop && !is_stopped && !stop.wait(kBeatEveryNs));
  return ExitCode::kOk;
}

}  // namespace

Command replay_command() {
  const auto flags = std::make_shared<ReplayFlags>();
  return {"replay", "Publish a recording again, as an engine that every tool can look at",
          "0 played, 1 failure at run time, 2 usage, 3 no such file, or the instance is a live "
          "engine's, 5 not readable",
          [flags](FlagSet& set) {
            FlagSet::require(set.text("recording", flags->recording, "The recording"));
            set.text("--speed", flags->speed, "Times as fast as it was (1)");
            set.toggle("--loop", flags->loop, "Begin again after the last frame");
            set.toggle("--hold", flags->hold, "Keep the last frame until a signal comes");
          },
          [flags](const CommandContext& context) { return run_replay(context, *flags); }};
}

}  // namespace vitrine::tools
