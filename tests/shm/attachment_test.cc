// SPDX-License-Identifier: Apache-2.0
// Engines as their watchers see them: living, gone, replaced, hidden.
#include "shm/attachment.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tests/shm/small_segment.h"

namespace vitrine::shm {
namespace {

struct Watched {
  SharedScratchFolder directory;
  std::filesystem::path path = directory / "main.segment";
  std::optional<SegmentWriter> writer;
  Attachment attachment{Target{.places = {{directory.path()}}}};

  void start(std::uint32_t workers) {
    writer.reset();
    writer = publish(small_segment(path));
    writer->set_life(EngineLife::kReady, 0);
    writer->begin().edit<EngineRecord>().workers = workers;
  }
  const Observation& look() { return attachment.observe(); }
};

// A process that publishes a segment, says so, and waits to be killed.
pid_t start_engine(const SegmentOptions& options) {
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    auto writer = SegmentWriter::publish_named(options);
    if (!writer) ::_exit(1);
    writer->set_life(EngineLife::kReady, 0);
    {
      Transaction transaction = writer->begin();
      transaction.recycle<PartitionRecord>(0).stage = PartitionStage::kGpuProving;
      transaction.edit<MemoryRecord>().budget_bytes = 1;
    }
    (void)!::write(ready[1], "x", 1);
    for (;;) ::pause();
  }
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  ::close(ready[0]);
  ::close(ready[1]);
  return child;
}

void kill_engine(pid_t child) {
  REQUIRE(::kill(child, SIGKILL) == 0);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
}

}  // namespace

TEST_CASE("An instance that does not exist is absent until it is started") {
  Watched watched;
  const Observation& absent = watched.look();
  CHECK_FALSE(absent.snapshot.has_value());
  CHECK(exit_code_of(absent) == 3);
  CHECK_THAT(absent.verdict.reason, Catch::Contains("main.segment"));
  watched.start(1);
  const Observation& present = watched.look();
  REQUIRE(present.snapshot.has_value());
  CHECK(present.verdict.word == VerdictWord::kIdle);
  CHECK(present.identity.instance == "main");
  CHECK(exit_code_of(present) == 0);
}

TEST_CASE("An engine that said goodbye has exited, and its last state stays") {
  Watched watched;
  watched.start(5);
  watched.look();
  watched.writer->set_life(EngineLife::kClosed, 7);
  watched.writer->unlink_name();
  watched.writer.reset();
  const Observation& gone = watched.look();
  CHECK(gone.verdict.word == VerdictWord::kExited);
  CHECK(exit_code_of(gone) == 4);
  REQUIRE(gone.snapshot.has_value());
  CHECK(gone.snapshot->engine().workers == 5);
  CHECK_FALSE(gone.liveness.name_linked);
}

TEST_CASE("A killed engine is dead at the next look, with the state that it died in") {
  SharedScratchFolder directory;
  const auto path = directory / "main.segment";
  const pid_t child = start_engine(small_segment(path));
  Attachment attachment(Target{.places = {{directory.path()}}});
  CHECK(attachment.observe().liveness.lock_held);
  kill_engine(child);
  Attachment newcomer(Target{.path = path});
  for (Attachment* watcher : {&attachment, &newcomer}) {
    const Observation& dead = watcher->observe_settled();
    CHECK(dead.verdict.word == VerdictWord::kDead);
    CHECK(exit_code_of(dead) == 4);
    REQUIRE(dead.snapshot.has_value());
    CHECK(dead.snapshot->consistent);
    REQUIRE(dead.snapshot->rows<PartitionRecord>().size() == 1);
    CHECK(dead.snapshot->rows<PartitionRecord>()[0].stage == PartitionStage::kGpuProving);
  }
  Attachment examiner(Target{.file = path});
  CHECK(examiner.observe().verdict.word == VerdictWord::kDead);
  CHECK(examiner.observe().attachments == 1);
}

TEST_CASE("A watcher follows a restarted engine to its new segment") {
  Watched watched;
  watched.start(1);
  const std::string before = watched.look().identity.incarnation;
  watched.start(2);
  const Observation& after = watched.look();
  CHECK(after.snapshot->engine().workers == 2);
  CHECK(after.identity.incarnation != before);
  CHECK(after.snapshot->incarnation == after.identity.incarnation);
  CHECK(after.attachments == 2);
  CHECK(after.verdict.word == VerdictWord::kIdle);
}

TEST_CASE("An engine whose name was removed lives on, degraded") {
  Watched watched;
  watched.start(1);
  watched.look();
  std::filesystem::remove(watched.path);
  const Observation& hidden = watched.look();
  CHECK(hidden.verdict.word == VerdictWord::kDegraded);
  CHECK(hidden.snapshot.has_value());
  CHECK(exit_code_of(hidden) == 1);
}

TEST_CASE("A watcher follows a segment that was published again") {
  Watched watched;
  watched.start(1);
  watched.look();
  std::filesystem::remove(watched.path);
  std::mutex state_mutex;
  REQUIRE(watched.writer->publish_again(state_mutex).has_value());
  watched.writer->begin().edit<EngineRecord>().workers = 2;
  const Observation& after = watched.look();
  CHECK(after.verdict.word == VerdictWord::kIdle);
  CHECK(after.snapshot->engine().workers == 2);
  CHECK(after.attachments == 2);
}

TEST_CASE("A living engine is preferred to a dead one that is found first") {
  SharedScratchFolder first;
  SharedScratchFolder second;
  { const SegmentWriter dead = publish(small_segment(first / "main.segment")); }
  Attachment attachment(Target{.places = {{first.path(), second.path()}}});
  CHECK(attachment.observe().verdict.word == VerdictWord::kDead);
  const SegmentWriter living = publish(small_segment(second / "main.segment"));
  CHECK(attachment.observe().verdict.word == VerdictWord::kStarting);
  CHECK(attachment.observe().attachments == 2);
}

TEST_CASE("A heart that stands is found hung by one settled observation") {
  Watched watched;
  SegmentOptions options = small_segment(watched.path);
  options.heartbeat_interval_ns = 1'000'000;
  watched.writer = publish(options);  // beats once and never again
  watched.writer->set_life(EngineLife::kReady, 0);
  Attachment attachment(Target{.path = watched.path});
  while (attachment.observe().snapshot->heartbeat_age_ns <= 3 * options.heartbeat_interval_ns) {
  }
  Attachment one_shot(Target{.path = watched.path});
  CHECK(one_shot.observe_settled().verdict.word == VerdictWord::kHung);
  CHECK(exit_code_of(one_shot.last()) == 6);
  watched.writer->beat();
  CHECK(one_shot.observe().verdict.word == VerdictWord::kIdle);
}

TEST_CASE("A segment that cannot be read is unreadable and says why") {
  SharedScratchFolder directory;
  write_whole(directory / "main.segment",
              "not a segment at all, but long enough to be looked at"
              " by whoever wants to know what it is");
  Attachment attachment(Target{.places = {{directory.path()}}});
  const Observation& unreadable = attachment.observe();
  CHECK(unreadable.verdict.word == VerdictWord::kUnreadable);
  CHECK_THAT(unreadable.verdict.reason, Catch::Contains("no magic number"));
  CHECK(exit_code_of(unreadable) == 5);
}

TEST_CASE("A segment that is cut short while it is watched is unreadable, its last state stays") {
  Watched watched;
  watched.start(6);
  watched.look();
  REQUIRE(::truncate(watched.path.c_str(), 4096) == 0);
  const Observation& cut = watched.look();
  CHECK(cut.verdict.word == VerdictWord::kUnreadable);
  REQUIRE(cut.snapshot.has_value());
  CHECK(cut.snapshot->engine().workers == 6);
}

}  // namespace vitrine::shm
