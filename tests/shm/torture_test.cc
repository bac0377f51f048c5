// SPDX-License-Identifier: Apache-2.0
// A writer that publishes flat out is killed and stopped at random instants, under readers.
//
// VITRINE_TORTURE_KILLS and VITRINE_TORTURE_STOPS say how often, VITRINE_TORTURE_SEED repeats a
// run's choices. With more than the default the figures are printed, and no read may have had its
// processor for longer than 10 ms because it had to try again.
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <iostream>
#include <random>

#include "shm/attachment.h"
#include "tests/shm/child_process.h"
#include "tests/shm/small_segment.h"
#include "tests/shm/torture_reader.h"

namespace vitrine::shm::testing {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kDefaultKills = 200;
constexpr std::uint64_t kDefaultStops = 30;
constexpr std::size_t kReaders = 3;

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

struct Shared {
  WriterLog log;
  std::atomic<bool> is_over;
  ReaderTally tallies[kReaders];
};

bool waited_for(const std::function<bool()>& condition) {
  const auto deadline = Clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return true;
}

// The state that a dead or stopped writer left; it is looked at once.
struct Left {
  std::string incarnation;
  std::uint64_t commit = 0;
  std::string fault;  // empty when the plan has exactly this state at this commit
};

Left what_is_left(SegmentReader reader) {
  Left left;
  Snapshot snapshot;
  if (const auto taken = reader.snapshot(snapshot); !taken) return {"", 0, taken.error().text};
  left.incarnation = snapshot.incarnation;
  left.commit = snapshot.commit;
  left.fault = fault_of(plan_of(reader.identity()), snapshot);
  if (!snapshot.consistent || snapshot.tries != 1) left.fault = "not readable at the first try";
  const auto batch = reader.events_after(0, torture_capacity().events);
  if (!batch) return {"", 0, batch.error().text};
  if (left.fault.empty()) left.fault = fault_of(*batch, 0);
  if (left.fault.empty() && batch->last_sequence != PlannedState::events_at(snapshot.commit)) {
    left.fault = "events end at " + std::to_string(batch->last_sequence);
  }
  return left;
}

class Torture {
 public:
  explicit Torture(std::uint64_t seed) : random_(seed) {
    for (ReaderTally& tally : shared_->tallies) {
      readers_.emplace_back([this, &tally] { return read_until(shared_->is_over, path(), tally); });
    }
  }

  fs::path path() const { return scratch_ / "main.segment"; }
  WriterLog& log() const { return shared_->log; }
  std::uint64_t below(std::uint64_t end) { return random_() % end; }

  void sleep_up_to_us(std::uint64_t most_us) {
    std::this_thread::sleep_for(std::chrono::microseconds(below(most_us + 1)));
  }
  ChildProcess start_writer() {
    const std::uint32_t period = below(4) == 0 ? 4 : 64;
    new (&log()) WriterLog();
    const SegmentOptions options = torture_segment(path(), period);
    return ChildProcess([&] { return write_flat_out(options, period, log()); });
  }
  bool is_publishing() {
    return waited_for([this] { return log().confirmed >= 1 || log().error[0] != 0; }) &&
           log().error[0] == 0;
  }
  std::size_t files(std::string_view suffix) const {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(scratch_.path())) {
      count += entry.path().string().ends_with(suffix);
    }
    return count;
  }

  ReaderTally end_readers() {
    shared_->is_over = true;
    ReaderTally all;
    for (ChildProcess& reader : readers_) CHECK(reader.await_end() == 0);
    for (const ReaderTally& tally : shared_->tallies) all.add(tally);
    return all;
  }

 private:
  SharedScratchFolder scratch_;
  SharedWithChildren<Shared> shared_;
  std::vector<ChildProcess> readers_;
  std::mt19937_64 random_;
};

void check_readers(const ReaderTally& tally) {
  INFO(tally.first_fault);
  CHECK(tally.faults == 0);
  CHECK(tally.consistent > 0);
  // Without these the readers and the writer never met, and nothing was shown.
  CHECK(tally.overlapped > 0);
  CHECK(tally.tried_again > 0);
}

void report(const char* what, std::uint64_t count, const ReaderTally& tally) {
  const auto figures = [](const Latencies& times) {
    return std::to_string(times.quantile_ns(0.5) / 1000) + ", " +
           std::to_string(times.quantile_ns(0.99) / 1000) + ", " +
           std::to_string(times.max_ns() / 1000) + " (over 10 ms: " + std::to_string(times.slow()) +
           ")";
  };
  std::cout << count << ' ' << what << ", " << kReaders << " readers: " << tally.snapshots
            << " snapshots, " << tally.consistent << " consistent, " << tally.overlapped
            << " while the commit moved, " << tally.tried_again << " tried again; " << tally.events
            << " events, " << tally.missed << " missed; " << tally.attachments << " attachments, "
            << tally.deaths << " deaths seen; faults " << tally.faults
            << "\nread in us, p50, p99, max: processor " << figures(tally.processor) << "; wall "
            << figures(tally.wall) << "; checks that touch nothing shared, processor "
            << figures(tally.control) << "; at most " << tally.most_tries << " tries\n";
  CHECK(tally.slow_by_trying == 0);
}

std::uint64_t seed() {
  const std::uint64_t seed = number_of("VITRINE_TORTURE_SEED", std::random_device()());
  UNSCOPED_INFO("VITRINE_TORTURE_SEED=" << seed);
  return seed;
}

// What kills have shown so far.
struct Deaths {
  Left last;                              // the segment that has the name
  std::uint64_t in_open_transaction = 0;  // announced, not confirmed
  std::uint64_t uncommitted = 0;          // of these, with a commit that did not move
  std::uint64_t before_publication = 0;
};

// The segment's commit can be the confirmed or the announced one, nothing else.
void check_death(const Torture& torture, Deaths& deaths) {
  const WriterLog& log = torture.log();
  auto reader = SegmentReader::attach(torture.path());
  if (!reader || (!log.is_published && reader->identity().incarnation == deaths.last.incarnation)) {
    // It died before the name was its own.
    REQUIRE_FALSE(log.is_published);
    ++deaths.before_publication;
    if (!reader) {
      CHECK(reader.error().kind == ErrorKind::kAbsent);
      deaths.last = {};
    }
    return;
  }
  CHECK_FALSE(reader->liveness().lock_held);
  const Left left = what_is_left(std::move(*reader));
  CHECK(left.fault == "");
  CHECK(left.commit >= log.confirmed);
  CHECK(left.commit <= log.announced);
  CHECK(left.incarnation != deaths.last.incarnation);
  if (log.is_published) CHECK(left.incarnation == log.incarnation);
  deaths.in_open_transaction += log.announced != log.confirmed;
  deaths.uncommitted += left.commit != log.announced;

  const Left read = what_is_left(SegmentReader::open_file(torture.path()).value());
  CHECK(read.fault == "");
  CHECK(read.commit == left.commit);
  if (!deaths.last.incarnation.empty()) {
    const fs::path kept = dead_path_of(torture.path(), deaths.last.incarnation);
    const Left before = what_is_left(SegmentReader::open_file(kept).value());
    CHECK(before.fault == "");
    CHECK(before.commit == deaths.last.commit);
  }
  deaths.last = left;
}

}  // namespace

TEST_CASE("a writer killed at any instant leaves its exact last commit, and the next starts clean",
          "[E10]") {
  const std::uint64_t kills = number_of("VITRINE_TORTURE_KILLS", kDefaultKills);
  Torture torture(seed());
  Deaths deaths;
  for (std::uint64_t kill = 0; kill < kills; ++kill) {
    ChildProcess writer = torture.start_writer();
    // Every eighth dies about when it publishes its segment.
    const bool dies_early = torture.below(8) == 0;
    if (!dies_early) {
      const bool is_publishing = torture.is_publishing();
      INFO(torture.log().error);
      REQUIRE(is_publishing);
    }
    torture.sleep_up_to_us(dies_early ? 1000 : 2000);
    writer.signal(SIGKILL);
    REQUIRE(writer.await_end() == 128 + SIGKILL);
    check_death(torture, deaths);
    // Only one that dies before it has done anything leaves no lock.
    const std::size_t locks = torture.files(".lock");
    REQUIRE(locks <= 1);
    REQUIRE(torture.files("") == torture.files(".dead") + torture.files(".segment") + locks);
    // One that dies before it has removed the oldest leaves that to the next.
    if (torture.log().is_published) REQUIRE(torture.files(".dead") <= 3);
  }
  Target target;
  target.path = torture.path();
  if (!deaths.last.incarnation.empty()) {
    CHECK(Attachment(target).observe().verdict.word == VerdictWord::kDead);
  }
  const ReaderTally tally = torture.end_readers();
  check_readers(tally);
  CHECK(tally.deaths > 0);
  CHECK(deaths.in_open_transaction > 0);
  CHECK(deaths.uncommitted > 0);
  if (kills <= kDefaultKills) return;
  report("kills", kills, tally);
  std::cout << deaths.in_open_transaction << " died in a transaction, " << deaths.uncommitted
            << " of them before its commit, " << deaths.before_publication
            << " before they had a segment\n";
}

TEST_CASE("a stopped writer is hung by its heartbeat alone, and its state is there to read",
          "[E10]") {
  const std::uint64_t stops = number_of("VITRINE_TORTURE_STOPS", kDefaultStops);
  Torture torture(seed());
  ChildProcess writer = torture.start_writer();
  REQUIRE(torture.is_publishing());
  const WriterLog& log = torture.log();
  for (std::uint64_t stop = 0; stop < stops; ++stop) {
    torture.sleep_up_to_us(2000);
    writer.signal(SIGSTOP);
    REQUIRE(writer.await_stop());
    const Left left = what_is_left(SegmentReader::attach(torture.path()).value());
    CHECK(left.fault == "");
    CHECK(left.commit >= log.confirmed);
    CHECK(left.commit <= log.announced);

    Target target;
    target.path = torture.path();
    Attachment attachment(target);
    const Observation& seen = attachment.observe();
    CHECK(is_alive(seen.verdict.word));  // one look never says that a heart stands
    const std::uint64_t first_look_ns = clock_ns(CLOCK_MONOTONIC);
    CHECK(waited_for([&] { return !is_alive(attachment.observe().verdict.word); }));
    CHECK(clock_ns(CLOCK_MONOTONIC) - first_look_ns > 2 * seen.snapshot->heartbeat_interval_ns);
    CHECK(seen.verdict.word == VerdictWord::kHung);
    CHECK(seen.snapshot->consistent);
    CHECK(seen.snapshot->commit == left.commit);

    writer.signal(SIGCONT);
    CHECK(waited_for([&] { return is_alive(attachment.observe().verdict.word); }));
    CHECK(waited_for([&] { return attachment.observe().snapshot->commit > left.commit; }));
  }
  writer.signal(SIGKILL);
  writer.await_end();
  const ReaderTally tally = torture.end_readers();
  check_readers(tally);
  if (stops > kDefaultStops) report("stops", stops, tally);
}

}  // namespace vitrine::shm::testing
