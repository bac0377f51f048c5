// SPDX-License-Identifier: Apache-2.0
#include "tools/recorder.h"

#include <thread>

#include "shm/clock.h"

namespace vitrine::tools {
namespace {

// A living engine looks after its segment once a second.
constexpr std::uint64_t kRepairPatienceNs = 5'000'000'000;

shm::Result<shm::RawLayout> layout_of(const shm::SegmentReader& reader) {
  return shm::read_raw_layout(reader.bytes(), reader.bytes().size(),
                              reader.identity().path.string());
}

}  // namespace

Recorder::Recorder(shm::SegmentReader reader, const shm::AttachOptions& options,
                   shm::RawLayout layout, RecordingFile file)
    : reader_(std::move(reader)),
      options_(options),
      layout_(std::move(layout)),
      copy_(std::make_unique<shm::RawCopy>(layout_, reader_.bytes())),
      encoder_(layout_),
      file_(std::move(file)),
      readable_ns_(shm::monotonic_ns()) {}

Result<Recorder> Recorder::start(shm::SegmentReader reader, const shm::AttachOptions& options,
                                 RecordingFile file) {
  shm::Result<shm::RawLayout> layout = layout_of(reader);
  if (!layout) return Error{ExitCode::kUnreadable, layout.error().text};
  Recorder recorder(std::move(reader), options, std::move(*layout), std::move(file));
  if (auto begun = recorder.file_.append(recorder.encoder_.begin()); !begun) return begun.error();
  return recorder;
}

// The engine's clock now, as the heartbeat tells it.
std::uint64_t Recorder::engine_time_ns() {
  const std::uint64_t now_ns = shm::monotonic_ns();
  if (!reader_.snapshot(clock_)) return 0;
  return clock_.heartbeat_monotonic_ns + clock_.heartbeat_age_ns +
         (now_ns > clock_.taken_monotonic_ns ? now_ns - clock_.taken_monotonic_ns : 0);
}

// An engine whose file was removed or damaged publishes the same state again under its name.
void Recorder::follow_to_new_file() {
  auto fresh = shm::SegmentReader::attach(reader_.identity().path, options_);
  if (!fresh || fresh->identity().incarnation != reader_.identity().incarnation) return;
  const shm::Result<shm::RawLayout> layout = layout_of(*fresh);
  if (!layout || layout->sections != layout_.sections) return;
  auto copy = std::make_unique<shm::RawCopy>(layout_, fresh->bytes());
  copy->continue_after(*copy_);
  copy_ = std::move(copy);
  reader_ = std::move(*fresh);
}

Result<Recorder::Engine> Recorder::take_frame() {
  constexpr int kCopies = 8;
  if (!reader_.liveness().name_linked) follow_to_new_file();
  // Asked before the copy: what an engine that is gone left does not change any more.
  const shm::Liveness liveness = reader_.liveness();
  const Engine engine = liveness.lock_held ? Engine::kLives : Engine::kGone;
  shm::FrameHeader header{};
  header.taken_engine_ns = engine_time_ns();
  header.taken_unix_ns = shm::unix_ns();
  header.flags = (liveness.lock_held ? shm::kFrameLockHeld : 0) |
                 (liveness.name_linked ? shm::kFrameNameLinked : 0);
  auto outcome = copy_->run();
  for (int i = 1; outcome == shm::RawCopy::Outcome::kBusy && i < kCopies; ++i) {
    std::this_thread::yield();
    outcome = copy_->run();
  }
  const std::uint64_t now_ns = shm::monotonic_ns();
  if (outcome == shm::RawCopy::Outcome::kDamaged) {
    const bool may_pass = liveness.lock_held && now_ns - readable_ns_ < kRepairPatienceNs;
    if (!may_pass) {
      return Error{ExitCode::kUnreadable,
                   reader_.identity().path.string() + ": the segment is damaged; " +
                       std::to_string(frames_) + " frames were recorded before"};
    }
    ++left_out_;
    return engine;
  }
  readable_ns_ = now_ns;
  if (outcome == shm::RawCopy::Outcome::kBusy) {
    ++left_out_;
    return engine;
  }
  for (const shm::RawContent& content : copy_->frame().sections) missed_ += content.missed;
  if (auto put = file_.append(encoder_.frame(copy_->frame(), header)); !put) return put.error();
  ++frames_;
  return engine;
}

}  // namespace vitrine::tools
