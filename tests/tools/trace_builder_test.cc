// SPDX-License-Identifier: Apache-2.0
// A trace of known events is the document that a viewer expects.
#include "tools/trace_builder.h"

#include <algorithm>
#include <boost/json.hpp>
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "tests/scratch_folder.h"
#include "tests/tools/program_run.h"
#include "tests/tools/test_engine.h"

using namespace vitrine;
using namespace vitrine::tools;
namespace json = boost::json;
using shm::EventType;

namespace {

class Script {
 public:
  Script& at(std::uint64_t ms, EventType type, std::uint32_t partition, int worker = -1) {
    shm::Event event;
    event.sequence = ++sequence_;
    event.time = {1'000'000'000 + ms * 1'000'000};
    event.type = type;
    event.job = {7};
    event.attempt = 1;
    event.partition = shm::Index::of(partition);
    if (worker >= 0) event.worker = shm::Index::of(static_cast<std::uint32_t>(worker));
    builder.add(event);
    return *this;
  }
  // The life of one partition, each step a millisecond.
  Script& whole(std::uint64_t ms, std::uint32_t partition, int worker) {
    return at(ms, EventType::kSynthStart, partition)
        .at(ms + 1, EventType::kSynthEnd, partition)
        .at(ms + 2, EventType::kGpuQueue, partition)
        .at(ms + 3, EventType::kGpuPickup, partition, worker)
        .at(ms + 4, EventType::kGpuStart, partition, worker)
        .at(ms + 5, EventType::kGpuEnd, partition, worker)
        .at(ms + 6, EventType::kPartitionDone, partition, worker);
  }

  json::array trace() const {
    shm::SegmentIdentity identity;
    identity.instance.assign("main");
    const json::value document = json::parse(builder.finish(identity, 0));
    return document.at("traceEvents").as_array();
  }

  TraceBuilder builder;

 private:
  std::uint64_t sequence_ = 0;
};

std::vector<json::object> of_phase(const json::array& trace, std::string_view phase) {
  std::vector<json::object> found;
  for (const json::value& event : trace) {
    if (event.at("ph").as_string() == phase) found.push_back(event.as_object());
  }
  return found;
}

double number(const json::value& value) { return value.to_number<double>(); }

// What the format asks of every event; spans of a track follow or enclose each other, flows come
// in pairs that lie within spans.
void check_format(const json::array& trace) {
  const std::set<std::string> phases = {"M", "X", "C", "i", "s", "f"};
  std::set<std::int64_t> named;
  std::map<std::int64_t, std::vector<std::pair<double, double>>> spans;
  for (const json::value& one : trace) {
    const json::object& event = one.as_object();
    const std::string phase(event.at("ph").as_string());
    REQUIRE(phases.count(phase) == 1);
    CHECK(event.at("pid").is_int64());
    CHECK(event.at("name").is_string());
    CHECK(number(event.at("ts")) >= 0);
    const std::int64_t track = event.at("tid").as_int64();
    if (event.at("name") == "thread_name") named.insert(track);
    if (phase == "X") {
      REQUIRE(number(event.at("dur")) >= 0);
      spans[track].emplace_back(number(event.at("ts")),
                                number(event.at("ts")) + number(event.at("dur")));
    }
    if (phase == "i") CHECK(event.at("s") == "t");
    if (phase == "C") CHECK_FALSE(event.at("args").as_object().empty());
  }
  for (const auto& [track, list] : spans) {
    CHECK(named.count(track) == 1);
    for (const auto& a : list) {
      for (const auto& b : list) {
        const bool overlap =
            a.first < b.first && b.first < a.second - 1e-6 && a.second < b.second - 1e-6;
        CHECK_FALSE(overlap);
      }
    }
  }
  std::map<std::int64_t, int> flows;
  for (const json::object& begin : of_phase(trace, "s")) {
    flows[begin.at("id").as_int64()] += 1;
    const double ts = number(begin.at("ts"));
    bool is_inside = false;
    for (const auto& [from, to] : spans[begin.at("tid").as_int64()]) {
      is_inside |= from <= ts && ts <= to;
    }
    CHECK(is_inside);
  }
  for (const json::object& end : of_phase(trace, "f")) {
    flows[end.at("id").as_int64()] += 100;
    CHECK(end.at("bp") == "e");
  }
  for (const auto& [id, count] : flows) CHECK(count == 101);
}

std::string argument(const json::object& event, std::string_view name) {
  const json::value* value = event.at("args").as_object().if_contains(name);
  return value == nullptr ? "" : std::string(value->as_string());
}

}  // namespace

TEST_CASE("a partition is a span of its slot, a span of its worker and an arrow between them") {
  Script script;
  script.whole(0, 3, 1);
  const json::array trace = script.trace();
  check_format(trace);
  const auto spans = of_phase(trace, "X");
  REQUIRE(spans.size() == 4);
  CHECK(spans[0].at("name") == "job 7 partition 3");
  CHECK(number(spans[0].at("ts")) == 0);
  CHECK(number(spans[0].at("dur")) == 1000);
  CHECK(number(spans[1].at("ts")) == 3000);
  CHECK(number(spans[1].at("dur")) == 3000);
  CHECK(argument(spans[1], "outcome") == "done");
  CHECK(spans[2].at("name") == "kernels, job 7 partition 3");
  CHECK(spans[3].at("name") == "finish, job 7 partition 3");
  CHECK(of_phase(trace, "s").size() == 1);
  const auto names = of_phase(trace, "M");
  CHECK(std::ranges::any_of(names,
                            [](const auto& name) { return argument(name, "name") == "worker 1"; }));
}

TEST_CASE("partitions that are synthesized at once have slots of their own") {
  Script script;
  for (std::uint32_t number = 0; number < 3; ++number) {
    script.at(number, EventType::kSynthStart, number);
  }
  script.at(10, EventType::kSynthEnd, 1).at(11, EventType::kSynthStart, 3);
  script.at(12, EventType::kSynthEnd, 0).at(13, EventType::kSynthEnd, 2);
  script.at(14, EventType::kSynthEnd, 3);
  const json::array trace = script.trace();
  check_format(trace);
  std::map<std::int64_t, int> tracks;
  for (const auto& span : of_phase(trace, "X")) ++tracks[span.at("tid").as_int64()];
  CHECK(tracks.size() == 3);
}

TEST_CASE("what began before the trace or goes on after it says so") {
  Script script;
  script.at(5, EventType::kSynthEnd, 0)
      .at(6, EventType::kGpuEnd, 1, 0)
      .at(7, EventType::kPartitionDone, 1, 0)
      .at(8, EventType::kSynthStart, 2)
      .at(9, EventType::kGpuPickup, 0, 0);
  const json::array trace = script.trace();
  check_format(trace);
  int before = 0;
  int after = 0;
  for (const auto& span : of_phase(trace, "X")) {
    before += argument(span, "begin") == "not seen";
    after += argument(span, "end") == "not yet";
    if (argument(span, "begin") == "not seen") CHECK(number(span.at("ts")) == 0);
  }
  CHECK(before == 2);
  CHECK(after == 2);
}

TEST_CASE("a gap in the events ends what was open, and is marked with its length") {
  Script script;
  script.at(0, EventType::kSynthStart, 0).at(1, EventType::kGpuPickup, 1, 0);
  script.builder.add_gap(12);
  script.at(20, EventType::kGpuPickup, 2, 0).at(30, EventType::kPartitionDone, 2, 0);
  const json::array trace = script.trace();
  check_format(trace);
  int unseen = 0;
  for (const auto& span : of_phase(trace, "X")) unseen += argument(span, "end") == "not seen";
  CHECK(unseen == 2);
  const auto marks = of_phase(trace, "i");
  REQUIRE(marks.size() == 1);
  CHECK(marks[0].at("name") == "12 events missed");
}

TEST_CASE("an event without a time does not move the beginning of a trace") {
  Script script;
  script.at(10, EventType::kSynthStart, 0);
  shm::Event lost;
  lost.sequence = 2;
  script.builder.add(lost);
  script.at(20, EventType::kSynthEnd, 0);
  const std::string text = script.builder.finish({}, 0);
  CHECK(text.find("1 events missed") != std::string::npos);
  CHECK(text.find("\"begin_time\":\"1970-01-01T00:00:01.010Z\"") != std::string::npos);
}

TEST_CASE("a failure is an instant on its worker's track with its class") {
  Script script;
  script.at(0, EventType::kGpuPickup, 0, 2);
  shm::Event event;
  event.time = {1'005'000'000};
  event.type = EventType::kPartitionFail;
  event.job = {7};
  event.partition = shm::Index::of(0);
  event.worker = shm::Index::of(2);
  event.argument = static_cast<std::uint64_t>(shm::FailureClass::kDeviceError);
  script.builder.add(event);
  const json::array trace = script.trace();
  check_format(trace);
  const auto marks = of_phase(trace, "i");
  REQUIRE(marks.size() == 1);
  CHECK(argument(marks[0], "class") == "device_error");
  CHECK(argument(of_phase(trace, "X")[0], "outcome") == "failed");
  CHECK(marks[0].at("tid") == of_phase(trace, "X")[0].at("tid"));
}

TEST_CASE("events in any order, of any content, make a document of the right form") {
  Script script;
  std::uint64_t state = 20261130;
  const auto next = [&](std::uint64_t below) {
    state = state * 6364136223846793005 + 1442695040888963407;
    return (state >> 33) % below;
  };
  for (int i = 0; i < 3000; ++i) {
    const int worker = static_cast<int>(next(4)) - 1;
    script.at(static_cast<std::uint64_t>(i), static_cast<EventType>(next(26)),
              static_cast<std::uint32_t>(next(6)), worker);
    if (next(200) == 0) script.builder.add_gap(next(9) + 1);
  }
  const json::array trace = script.trace();
  CHECK(trace.size() > 1000);
  CHECK(of_phase(trace, "s").size() == of_phase(trace, "f").size());
  std::map<std::int64_t, std::int64_t> flows;
  for (const auto& begin : of_phase(trace, "s")) flows[begin.at("id").as_int64()] += 1;
  for (const auto& end : of_phase(trace, "f")) flows[end.at("id").as_int64()] += 100;
  for (const auto& [id, count] : flows) {
    if (count != 101) FAIL_CHECK("flow " << id);
  }
}

TEST_CASE(
    "the command writes the trace of a live engine, of its recording and of its dead segment") {
  SharedScratchFolder folder;
  const std::string segment = (folder / "main.segment").string();
  const std::string recording = (folder / "main.rec").string();
  const std::string out = (folder / "trace.json").string();
  const auto events_in = [&] {
    std::ifstream file(out);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const json::value document = json::parse(text);
    check_format(document.at("traceEvents").as_array());
    return document.at("otherData").at("events").as_int64();
  };
  {
    auto writer = tests::publish_engine(folder.path(), "main");
    tests::append_events(writer, 5);
    const auto live = tests::run_vitrine({"trace", "--segment", segment, "--out", out});
    INFO(live.error);
    CHECK(live.exit_code == 0);
    CHECK(events_in() == 5);
    CHECK(tests::run_vitrine({"trace", "--segment", segment, "--out", out, "--for", "100ms"})
              .exit_code == 0);
    CHECK(events_in() == 5);
    CHECK(tests::run_vitrine({"record", "--segment", segment, "--out", recording, "--for", "50ms"})
              .exit_code == 0);
  }
  CHECK(tests::run_vitrine({"trace", "--file", recording, "--out", out}).exit_code == 0);
  CHECK(events_in() == 5);
  CHECK(tests::run_vitrine({"trace", "--file", segment, "--out", out}).exit_code == 0);
  CHECK(events_in() == 5);
  CHECK(tests::run_vitrine({"trace", "--file", recording, "--out", out, "--for", "1s"}).exit_code ==
        2);
  CHECK(tests::run_vitrine({"trace", "--file", "/nowhere", "--out", out}).exit_code == 3);
  CHECK(tests::run_vitrine({"trace", "--file", recording, "--out", "/nowhere/x"}).exit_code == 1);
}
