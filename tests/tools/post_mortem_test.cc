// SPDX-License-Identifier: Apache-2.0
#include "tools/post_mortem.h"

#include <unistd.h>

#include <boost/json/parse.hpp>
#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>

#include "shm/clock.h"
#include "tests/scratch_folder.h"
#include "tests/tools/program_run.h"
#include "tests/tools/sample_observation.h"
#include "tests/tools/test_engine.h"

using namespace vitrine;
using namespace vitrine::tools;
using namespace vitrine::tests;
using Catch::Matchers::Contains;

namespace {

constexpr std::uint64_t kHour = 3'600'000'000'000;

shm::Observation dead_for_an_hour() {
  shm::Observation observation = sample_observation();
  observation.verdict = {shm::VerdictWord::kDead, "its lock is free"};
  observation.snapshot->taken_monotonic_ns += kHour;
  observation.snapshot->heartbeat_age_ns += kHour;
  return observation;
}

std::string text_of(const shm::Observation& observation, const LastEvents& last = {}) {
  return post_mortem_text(View(observation, {}), last, {});
}

// Publishes an engine and lets it die; the segment then has `events` events.
std::string incarnation_of_dead(const std::filesystem::path& folder, std::uint32_t events) {
  shm::SegmentWriter writer = publish_engine(folder, "e");
  append_events(writer, events);
  auto reader = shm::SegmentReader::attach(shm::segment_path_in(folder, "e")).value();
  return reader.identity().incarnation;
}

Result<BlackBox> box_of(const SharedScratchFolder& scratch) {
  shm::Target target;
  target.instance = "e";
  target.places = {{scratch.path()}};
  return attach_black_box(target);
}

}  // namespace

TEST_CASE("a death is told with its time, signal, and what was in flight", "[post-mortem]") {
  shm::Observation observation = dead_for_an_hour();
  observation.snapshot->last_signal = SIGSEGV;
  const std::string text = text_of(observation);
  CHECK_THAT(text,
             Contains("\ndied      2026-01-31T08:15:30.000Z, 1h00m ago, or up to 100ms later\n"
                      "signal    11 (Segmentation fault)\ncommit    1234\n"));
  CHECK_THAT(text, Contains("     0       0  gpu_proving    1.4s    7          1"));
  CHECK_THAT(text, Contains("\n  7  running"));
  CHECK_THAT(text, Contains("\n  7          2  synthesizing  450ms        1       -  192.0 MiB\n"));
  CHECK_THAT(text, Contains("srs         1.0 GiB"));
  CHECK_THAT(text, Contains("     6  29s  small"));
}

TEST_CASE("a death without a signal and an end by itself are told apart", "[post-mortem]") {
  shm::Observation observation = dead_for_an_hour();
  CHECK_THAT(text_of(observation), Contains("\nsignal    none was seen; SIGKILL"));
  observation.snapshot->life = shm::EngineLife::kClosed;
  observation.snapshot->exit_code = 3;
  const std::string text = text_of(observation);
  CHECK_THAT(text, Contains("\nended     2026-01-31T08:15:30.000Z, 1h00m ago\nexit code 3\n"));
  CHECK_THAT(text, !Contains("signal"));
}

TEST_CASE("last words name the thread and what it had in hand", "[post-mortem]") {
  shm::Observation observation = dead_for_an_hour();
  shm::LastWords& words = observation.snapshot->last_words;
  words.written = 1;
  words.signal = SIGBUS;
  words.time = {observation.snapshot->heartbeat_monotonic_ns + 20'000'000};
  words.thread.assign("worker\n0");
  words.job = {7};
  words.partition = shm::Index::of(1);
  words.stage = shm::PartitionStage::kGpuProving;
  CHECK_THAT(text_of(observation),
             Contains("\nstruck by 7 (Bus error) at 2026-01-31T08:15:30.020Z, in thread "
                      "worker\\x0a0, at gpu_proving of job 7 partition 1\n"));
}

TEST_CASE("what an engine was doing when it was struck is told up to that time", "[post-mortem]") {
  shm::Observation observation = dead_for_an_hour();
  constexpr std::uint64_t kAfterBeat = 80'000'000'000;
  observation.snapshot->heartbeat_age_ns = kHour;
  shm::LastWords& words = observation.snapshot->last_words;
  words.written = 1;
  words.signal = SIGSEGV;
  words.time = {observation.snapshot->heartbeat_monotonic_ns + kAfterBeat};
  const std::string text = text_of(observation);
  CHECK_THAT(text, Contains("\ndied      2026-01-31T08:16:50.000Z, 58m40s ago\n"));
  CHECK_THAT(text, Contains("     0       0  gpu_proving    1m21s    7          1"));
  CHECK_THAT(text, !Contains("later"));
  // Words from the future are not believed.
  words.time = {observation.snapshot->heartbeat_monotonic_ns + 2 * kHour};
  CHECK_THAT(text_of(observation), Contains("1h00m ago, or up to 100ms later\n"));
}

TEST_CASE("distinct errors are shown with their count, the last first", "[post-mortem]") {
  shm::Observation observation = dead_for_an_hour();
  const std::uint64_t end_ns = observation.snapshot->heartbeat_monotonic_ns;
  shm::ErrorRecord old;
  old.count = 3;
  old.first = old.last = {end_ns - kHour};
  old.failure_class = shm::FailureClass::kBadInput;
  old.text.assign("w[0] is not 1");
  shm::ErrorRecord recent = old;
  recent.last = {end_ns - 60'000'000'000};
  recent.job = {7};
  recent.text.assign("no room");
  observation.snapshot->rows<shm::ErrorRecord>() = {old, recent};
  const std::string text = text_of(observation);
  CHECK_THAT(text, Contains("     3  1m00s  1h00m  bad_input    7  no room\n"
                            "     3  1h00m  1h00m  bad_input    -  w[0] is not 1\n"));
}

TEST_CASE("the last minutes are shown once a minute, up to the end", "[post-mortem]") {
  const shm::Observation observation = dead_for_an_hour();
  std::vector<shm::HistorySample> history;
  for (std::uint64_t second = 0; second < 150; ++second) {
    shm::HistorySample sample;
    sample.sequence = second + 1;
    sample.time = {observation.snapshot->heartbeat_monotonic_ns - (150 - second) * 1'000'000'000};
    sample.jobs_active = static_cast<std::uint32_t>(second);
    history.push_back(sample);
  }
  const std::string text = history_section(View(observation, {}), history);
  INFO(text);
  CHECK(std::count(text.begin(), text.end(), '\n') == 4);
  CHECK_THAT(text, Contains("\n 2m01s      29 ") && Contains("\n  1.0s     149 "));
  CHECK(history_section(View(observation, {}), {}).empty());
}

TEST_CASE("nothing in flight is said, and a signal without a name is a number", "[post-mortem]") {
  shm::Observation observation = dead_for_an_hour();
  observation.snapshot->rows<shm::JobRecord>().clear();
  observation.snapshot->last_signal = 4'000'000'000;
  const std::string text = text_of(observation);
  CHECK_THAT(text, Contains("\nno job was in flight\n"));
  CHECK_THAT(text, Contains("\nsignal    4000000000\n"));
}

TEST_CASE("events that cannot be read leave all the rest", "[post-mortem]") {
  const std::string text = text_of(dead_for_an_hour(), {{}, "the ring is\nnoise"});
  CHECK_THAT(text, Contains("\nevents cannot be read: the ring is\\x0anoise\n"));
}

TEST_CASE("the name itself is the black box while no other engine has it", "[post-mortem]") {
  const SharedScratchFolder scratch;
  incarnation_of_dead(scratch.path(), 1);
  const std::string second = incarnation_of_dead(scratch.path(), 2);
  const auto box = box_of(scratch);
  REQUIRE(box.has_value());
  CHECK(box->attachment.last().snapshot->incarnation == second);
}

TEST_CASE("of an instance that is served again the newest dead one is shown", "[post-mortem]") {
  const SharedScratchFolder scratch;
  incarnation_of_dead(scratch.path(), 1);
  const std::string second = incarnation_of_dead(scratch.path(), 70);
  const shm::SegmentWriter alive = publish_engine(scratch.path(), "e");
  auto box = box_of(scratch);
  REQUIRE(box.has_value());
  CHECK(box->attachment.last().snapshot->incarnation == second);
  const LastEvents last = read_last_events(box->attachment, 50);
  REQUIRE(last.events.size() == 50);
  CHECK(last.events.back().sequence == 70);
}

TEST_CASE("what has a dead segment's name and is none is passed over, and said", "[post-mortem]") {
  const SharedScratchFolder scratch;
  incarnation_of_dead(scratch.path(), 1);
  const std::string real = incarnation_of_dead(scratch.path(), 2);
  const shm::SegmentWriter alive = publish_engine(scratch.path(), "e");
  const auto live_path = shm::segment_path_in(scratch.path(), "e");
  const auto name_of = [&](char digit) {
    return shm::dead_path_of(live_path, std::string(32, digit));
  };
  std::ofstream(name_of('f')) << "";
  std::filesystem::copy_file(shm::dead_path_of(live_path, real), name_of('e'));
  const auto box = box_of(scratch);
  REQUIRE(box.has_value());
  CHECK(box->attachment.last().snapshot->incarnation == real);
  CHECK(box->passed_over.size() == 2);
  const ProgramRun run = run_vitrine({"post-mortem", "--segment", live_path.string()});
  CHECK(run.exit_code == 4);
  CHECK_THAT(run.error, Contains("passed over: " + name_of('f').string()) &&
                            Contains("passed over: " + name_of('e').string() +
                                     ": is the segment of another engine"));
}

TEST_CASE("a dead segment that another user put there is passed over", "[post-mortem]") {
  if (::geteuid() != 0) {
    WARN("not tested: only root can become another user");
    return;
  }
  const SharedScratchFolder scratch;
  std::filesystem::permissions(scratch.path(), std::filesystem::perms::all);
  const std::string real = incarnation_of_dead(scratch.path(), 1);
  const std::string foreign = incarnation_of_dead(scratch.path(), 1);
  const auto live_path = shm::segment_path_in(scratch.path(), "e");
  const shm::SegmentWriter alive = publish_engine(scratch.path(), "e");
  REQUIRE(::chown(shm::dead_path_of(live_path, foreign).c_str(), 65534, 65534) == 0);
  const auto box = box_of(scratch);
  REQUIRE(box.has_value());
  CHECK(box->attachment.last().snapshot->incarnation == real);
  REQUIRE(box->passed_over.size() == 1);
  CHECK_THAT(box->passed_over[0], Contains("belongs to uid 65534"));
}

TEST_CASE("an engine that lives and had none before it has no black box", "[post-mortem]") {
  const SharedScratchFolder scratch;
  const shm::SegmentWriter alive = publish_engine(scratch.path(), "e");
  const auto box = box_of(scratch);
  REQUIRE(!box.has_value());
  CHECK(box.error().code == ExitCode::kNoInstance);
  CHECK_THAT(box.error().text, Contains("lives"));
}

TEST_CASE("post-mortem prints what is known and ends in 4", "[post-mortem]") {
  const SharedScratchFolder scratch;
  incarnation_of_dead(scratch.path(), 3);
  const std::string path = shm::segment_path_in(scratch.path(), "e");
  const ProgramRun run = run_vitrine({"post-mortem", "--segment", path});
  INFO(run.output << run.error);
  CHECK(run.exit_code == 4);
  CHECK_THAT(run.output, Contains("\nLAST EVENTS\n"));
  CHECK_THAT(run.output, Contains("segment   " + path + "\n"));
  const ProgramRun json = run_vitrine({"post-mortem", "--json", "--segment", path});
  CHECK(json.exit_code == 4);
  const auto document = boost::json::parse(json.output);
  CHECK(document.at("events").as_array().size() == 3);
  CHECK(document.at("post_mortem").at("jobs_in_flight") == 1);
  CHECK(document.at("post_mortem").at("signal").is_null());
  CHECK(document.at("engine").at("verdict") == "dead");
}

TEST_CASE("post-mortem names an instance that is not there: 3", "[post-mortem]") {
  for (const auto& words :
       std::vector<std::vector<std::string>>{{"post-mortem", "no-such-instance"},
                                             {"post-mortem", "--instance", "no-such-instance"}}) {
    const ProgramRun run = run_vitrine(words);
    CHECK(run.exit_code == 3);
    CHECK(run.error_is_one_line());
    CHECK_THAT(run.error, Contains("no engine 'no-such-instance'"));
  }
  const ProgramRun bad = run_vitrine({"post-mortem", "No/Such"});
  CHECK(bad.exit_code == 2);
  CHECK_THAT(bad.error, Contains("'No/Such' is not an instance name"));
}

TEST_CASE("post-mortem of noise says why it cannot be read: 5", "[post-mortem]") {
  const SharedScratchFolder scratch;
  const std::string path = shm::segment_path_in(scratch.path(), "e");
  std::ofstream(path) << std::string(65536, 'x');
  CHECK(run_vitrine({"post-mortem", "--segment", path}).exit_code == 5);
  CHECK(run_vitrine({"post-mortem", "--file", path}).exit_code == 5);
}
