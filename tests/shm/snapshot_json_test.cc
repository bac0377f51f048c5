// SPDX-License-Identifier: Apache-2.0
#include "shm/snapshot_json.h"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <catch2/catch.hpp>

#include "shm/time_text.h"
#include "shm/utf8_repair.h"
#include "tests/shm/small_segment.h"

namespace vitrine::shm {
namespace {

namespace json = boost::json;

constexpr std::uint64_t kBeatNs = 100'000'000'000;

Observation observation() {
  Observation look;
  look.identity.instance = "main";
  look.identity.pid = 4711;
  look.verdict = {VerdictWord::kBusy, "1 active job"};
  look.liveness = {.lock_held = true, .name_linked = true, .is_file = false};
  Snapshot snapshot;
  snapshot.consistent = true;
  snapshot.commit = 77;
  snapshot.incarnation = "00112233445566778899aabbccddeeff";
  snapshot.life = EngineLife::kReady;
  snapshot.heartbeat_monotonic_ns = kBeatNs;
  snapshot.heartbeat_age_ns = 250'000'000;
  snapshot.unix_minus_monotonic_ns = 1'700'000'000'000'000'000;
  snapshot.taken_monotonic_ns = 5'000'000'000;
  snapshot.rows<EngineRecord>().resize(1);
  JobRecord job;
  job.job = Id{18446744073709551615U};
  job.state = JobState::kFailed;
  job.submitted = Instant{kBeatNs - 1'000'000'000};
  job.failure_partition = Index::of(0);
  job.failure.assign("bad \xFF \"quoted\"\n");
  snapshot.rows<JobRecord>().push_back(job);
  look.snapshot = std::move(snapshot);
  look.observed_monotonic_ns = 5'000'000'000;
  return look;
}

const json::object& member(const json::object& of, std::string_view key) {
  return of.at(key).as_object();
}

// Every key that the catalogue promises for a record.
void check_keys(const json::object& object, std::span<const Field> fields) {
  for (const Field& field : fields) {
    const std::string name(field.name);
    CAPTURE(name);
    const bool is_shown = field.type != FieldType::kReserved;
    if (field.type == FieldType::kInstant) {
      CHECK(object.contains(name == "time" ? "time" : name + "_time"));
      CHECK(object.contains(name == "time" ? "age_seconds" : name + "_age_seconds"));
    } else {
      CHECK(object.contains(name) == is_shown);
    }
  }
}

}  // namespace

TEST_CASE("A snapshot's envelope tells which moment of which incarnation it is") {
  const json::object out = to_json(observation());
  CHECK(out.at("incarnation").as_string() == "00112233445566778899aabbccddeeff");
  CHECK(out.at("seq").as_string() == "77");
  CHECK(out.at("consistent").as_bool());
  CHECK(out.at("time").as_string() == "2023-11-14T22:15:00.250Z");
  CHECK(out.at("snapshot_age_seconds").as_double() == 0);
  const json::object& engine = member(out, "engine");
  CHECK(engine.at("verdict").as_string() == "busy");
  CHECK(engine.at("reason").as_string() == "1 active job");
  CHECK(engine.at("heartbeat_age_seconds").as_double() == Approx(0.25));
  CHECK(engine.at("pid").to_number<int>() == 4711);
  check_keys(engine, TableOf<EngineRecord>::kFields);
}

TEST_CASE("Every table is there, tables of one row as objects") {
  const json::object out = to_json(observation());
  for_each_table([&]<class Record>() {
    CAPTURE(TableOf<Record>::kName);
    CHECK(out.contains(TableOf<Record>::kName));
  });
  check_keys(member(out, "memory"), TableOf<MemoryRecord>::kFields);
  CHECK(member(out, "memory").at("budget_bytes").is_null());
  check_keys(member(out, "buffers"), TableOf<BuffersRecord>::kFields);
  CHECK(out.at("workers").as_array().empty());
}

TEST_CASE("A table of one row that is not there has its engine's own fields too, as null") {
  SharedScratchFolder folder;
  SegmentOptions options = small_segment(folder / "main.segment");
  options.extra_fields = {{.table = SectionId::kMemory, .name = "x_limit", .help = "of its own"}};
  const SegmentWriter writer = publish(options);
  Attachment attachment(Target{.path = options.path});
  const json::object out = to_json(attachment.observe());
  REQUIRE(member(out, "memory").contains("x_limit"));
  CHECK(member(out, "memory").at("x_limit").is_null());
}

TEST_CASE("Only the sections asked for are shown, and the envelope always") {
  const json::object out = to_json(observation(), std::vector<std::string>{"jobs", "nonsense"});
  CHECK(out.contains("engine"));
  CHECK(out.contains("jobs"));
  CHECK_FALSE(out.contains("partitions"));
  CHECK_FALSE(out.contains("nonsense"));
}

TEST_CASE("A record has every key of the catalogue, what is absent is null") {
  const Observation look = observation();
  const json::object job = record_to_json(look.snapshot->rows<JobRecord>().front(), *look.snapshot);
  check_keys(job, TableOf<JobRecord>::kFields);
  CHECK(job.at("job").as_string() == "18446744073709551615");
  CHECK(job.at("state").as_string() == "failed");
  CHECK(job.at("priority").as_string() == "unknown");
  CHECK(job.at("wait_reason").as_string() == "none");
  CHECK(job.at("submitted_time").as_string() == "2023-11-14T22:14:59.000Z");
  CHECK(job.at("submitted_age_seconds").as_double() == Approx(1.25));
  CHECK(job.at("finished_time").is_null());
  CHECK(job.at("finished_age_seconds").is_null());
  CHECK(job.at("failure_partition").to_number<int>() == 0);
  CHECK(job.at("failure_device").is_null());
  CHECK(job.at("circuit").is_null());
  CHECK(job.at("failure").as_string() == "bad \xEF\xBF\xBD \"quoted\"\n");
  CHECK(job.at("partitions").to_number<int>() == 0);
}

TEST_CASE("An event has its time, and its place in the stream as a string") {
  const Observation look = observation();
  Event event;
  event.sequence = 9;
  event.time = Instant{kBeatNs};
  event.type = EventType::kGpuStart;
  event.partition = Index::of(3);
  const json::object out = event_to_json(event, *look.snapshot);
  check_keys(out, kEventFields);
  CHECK(out.at("sequence").as_string() == "9");
  CHECK(out.at("type").as_string() == "gpu_start");
  CHECK(out.at("partition").to_number<int>() == 3);
  CHECK(out.at("worker").is_null());
  CHECK(out.at("age_seconds").as_double() == Approx(0.25));
}

TEST_CASE("Without a segment every key of the envelope is there and null") {
  Observation look;
  look.verdict = {VerdictWord::kUnreadable, "no engine"};
  const json::object out = to_json(look);
  for (const char* key : {"incarnation", "seq", "consistent", "snapshot_age_seconds"}) {
    CHECK(out.at(key).is_null());
  }
  CHECK(out.at("time").is_string());
  CHECK(member(out, "engine").at("verdict").as_string() == "unreadable");
  CHECK(member(out, "engine").at("heartbeat_age_seconds").is_null());
  check_keys(member(out, "engine"), TableOf<EngineRecord>::kFields);
  CHECK(out.at("jobs").as_array().empty());
}

TEST_CASE("The age of a dead engine's state counts from its last beat") {
  Observation look = observation();
  look.verdict.word = VerdictWord::kDead;
  look.observed_monotonic_ns += 1'000'000'000;
  const json::object out = to_json(look);
  CHECK(out.at("snapshot_age_seconds").as_double() == Approx(1.25));
  CHECK(member(out, "engine").at("heartbeat_age_seconds").as_double() == Approx(1.25));
}

TEST_CASE("What is written is parsed again, whatever the bytes of a record are") {
  Observation look = observation();
  std::vector<std::byte> bytes(sizeof(JobRecord), std::byte{0xC3});
  JobRecord& job = look.snapshot->rows<JobRecord>().front();
  std::memcpy(&job, bytes.data(), bytes.size());
  look.snapshot->unix_minus_monotonic_ns = -1;
  const json::value parsed = json::parse(json::serialize(to_json(look)));
  CHECK(parsed.as_object().at("jobs").as_array().size() == 1);
}

TEST_CASE("Ill-formed UTF-8 is replaced part by part, well-formed text stays") {
  const std::string replaced = "\xEF\xBF\xBD";
  for (const char* good : {"", "plain", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"}) {
    CHECK(repair_utf8(good) == good);
  }
  CHECK(repair_utf8("a\xFFz") == "a" + replaced + "z");
  CHECK(repair_utf8("\xC3") == replaced);
  CHECK(repair_utf8("\xE2\x82z") == replaced + "z");
  CHECK(repair_utf8("\xC0\xAF") == replaced + replaced);
  CHECK(repair_utf8("\xED\xA0\x80") == replaced + replaced + replaced);
  CHECK(repair_utf8("\xF4\x90\x80\x80").size() == 12);
}

TEST_CASE("Times of day are RFC 3339 in UTC with milliseconds") {
  CHECK(rfc3339_ms(0) == "1970-01-01T00:00:00.000Z");
  CHECK(rfc3339_ms(1'769'847'330'125'999'999) == "2026-01-31T08:15:30.125Z");
  CHECK(rfc3339_ms(-1).empty());
  CHECK(rfc3339_ms(std::numeric_limits<std::int64_t>::max()) == "2262-04-11T23:47:16.854Z");
}

}  // namespace vitrine::shm
