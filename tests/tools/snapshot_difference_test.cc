// SPDX-License-Identifier: Apache-2.0
// What diff says about two known moments.
#include "tools/snapshot_difference.h"

#include <boost/json.hpp>
#include <catch2/catch.hpp>

#include "tests/scratch_folder.h"
#include "tests/tools/program_run.h"
#include "tests/tools/test_engine.h"

using namespace vitrine;
using namespace vitrine::tools;
using Catch::Matchers::Contains;

namespace {

DifferenceSide side_at(std::uint64_t second) {
  DifferenceSide side;
  side.source.assign("main.rec");
  side.snapshot.incarnation.assign(32, 'a');
  side.snapshot.heartbeat_monotonic_ns = second * 1'000'000'000;
  side.snapshot.commit = second;
  side.snapshot.last_event_sequence = 10 * second;
  side.snapshot.rows<shm::MemoryRecord>().resize(1);
  side.snapshot.rows<shm::MemoryRecord>()[0].identity.stamp = second;
  shm::CountersRecord counters;
  counters.proof_kind.assign("porep");
  counters.done = 3 * second;
  side.snapshot.rows<shm::CountersRecord>() = {counters};
  return side;
}

std::string text_of(const DifferenceSide& before, const DifferenceSide& after) {
  return difference_text(before, after, difference_of(before, after), Charset::kUtf8);
}

}  // namespace

TEST_CASE("a counter's growth is told with its rate, a gauge's without") {
  DifferenceSide before = side_at(10);
  DifferenceSide after = side_at(14);
  after.snapshot.rows<shm::MemoryRecord>()[0].reserved_bytes = 4096;
  const std::string text = text_of(before, after);
  CHECK_THAT(text, Contains("4.000 s apart, 40 events"));
  CHECK_THAT(text, Contains("done  30 -> 42 (+12, 3.00/s)"));
  CHECK_THAT(text, Contains("reserved_bytes  0 -> 4096 (+4096)\n"));
  CHECK_THAT(text, !Contains("stamp"));
}

TEST_CASE("states are told before and after, a fall with its sign") {
  DifferenceSide before = side_at(1);
  DifferenceSide after = side_at(2);
  shm::WorkerRecord worker;
  worker.state = shm::WorkerState::kIdle;
  worker.device = shm::Index::of(0);
  before.snapshot.rows<shm::WorkerRecord>() = {worker};
  worker.state = shm::WorkerState::kProving;
  after.snapshot.rows<shm::WorkerRecord>() = {worker};
  before.snapshot.rows<shm::MemoryRecord>()[0].waiters = 3;
  const std::string text = text_of(before, after);
  CHECK_THAT(text, Contains("state  \"idle\" -> \"proving\""));
  CHECK_THAT(text, Contains("waiters  3 -> 0 (-3)"));
}

TEST_CASE("a row that was given to another item is one that left and one that came") {
  DifferenceSide before = side_at(1);
  DifferenceSide after = side_at(2);
  shm::JobRecord job;
  job.job = {41};
  job.state = shm::JobState::kDone;
  job.identity.generation = 1;
  before.snapshot.rows<shm::JobRecord>() = {job};
  job.job = {42};
  job.identity.generation = 2;
  after.snapshot.rows<shm::JobRecord>() = {job};
  const std::string text = text_of(before, after);
  CHECK_THAT(text, Contains("- jobs row 0 (job 41") && Contains("+ jobs row 0 (job 42"));
}

TEST_CASE("two incarnations have no row in common") {
  DifferenceSide before = side_at(1);
  DifferenceSide after = side_at(2);
  after.snapshot.incarnation.assign(32, 'b');
  const auto difference = difference_of(before, after);
  CHECK_FALSE(difference.is_same_incarnation);
  for (const RowChange& row : difference.rows) CHECK(row.kind != RowChange::Kind::kChanged);
  CHECK_THAT(text_of(before, after), Contains("two incarnations"));
}

TEST_CASE("equal moments differ in nothing") {
  CHECK_THAT(text_of(side_at(3), side_at(3)), Contains("nothing changed"));
}

TEST_CASE("the command compares frames of a recording, and a recording with a dead segment") {
  SharedScratchFolder folder;
  const std::string segment = (folder / "main.segment").string();
  const std::string recording = (folder / "main.rec").string();
  {
    auto writer = tests::publish_engine(folder.path(), "main");
    REQUIRE(tests::run_vitrine({"record", "--segment", segment, "--out", recording, "--for", "50ms",
                                "--interval", "10ms"})
                .exit_code == 0);
    shm::Transaction transaction = writer.begin();
    transaction.edit<shm::MemoryRecord>().reserved_bytes = 77;
  }
  const auto same = tests::run_vitrine({"diff", recording, "--from", "1", "--to", "2"});
  INFO(same.error);
  CHECK(same.exit_code == 0);
  CHECK_THAT(same.output,
             Contains("frame 1") && Contains("frame 2") && Contains("nothing changed"));
  const auto changed = tests::run_vitrine({"diff", recording, segment, "--json"});
  CHECK(changed.exit_code == 0);
  const boost::json::value document = boost::json::parse(changed.output);
  CHECK(document.at("same_incarnation") == true);
  const auto& rows = document.at("rows").as_array();
  REQUIRE_FALSE(rows.empty());
  CHECK(tests::run_vitrine({"diff", recording}).exit_code == 2);
  CHECK(tests::run_vitrine({"diff", recording, "--from", "100000"}).exit_code == 2);
  CHECK(tests::run_vitrine({"diff", recording, "--from", "0"}).exit_code == 2);
  CHECK(tests::run_vitrine({"diff", recording, recording, recording}).exit_code == 2);
  CHECK(tests::run_vitrine({"diff", recording, "/nowhere"}).exit_code == 3);
  CHECK(tests::run_vitrine({"diff", recording, "/etc/hostname"}).exit_code == 5);
}
