// SPDX-License-Identifier: Apache-2.0
// What a reader makes of fields and tables that it was not built to know.
#include "shm/segment_schema.h"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <catch2/catch.hpp>
#include <cstring>

#include "shm/attachment.h"
#include "shm/schema_text.h"
#include "shm/segment_reader.h"
#include "shm/snapshot_json.h"
#include "tests/shm/small_segment.h"

namespace vitrine::shm {
namespace {

namespace json = boost::json;

SegmentOptions with_extra_fields(const std::filesystem::path& path) {
  SegmentOptions options = small_segment(path);
  options.extra_fields = {
      {SectionId::kJobs, "x_height", FieldType::kU64, 8, Semantics::kGauge, "block height"},
      {SectionId::kJobs, "x_chain", FieldType::kText, 16, Semantics::kInfo, "which chain"},
      {SectionId::kEngine, "x_rounds", FieldType::kU64, 8, Semantics::kCounter, "rounds so far"}};
  return options;
}

json::object json_of(const std::filesystem::path& path) {
  Attachment attachment({.path = path, .options = {}, .places = {}});
  return to_json(attachment.observe());
}

// Changes the schema text in the bytes of a segment, and its hash in the header with it.
template <class Edit>
void change_schema(std::string& bytes, Edit edit) {
  Header header;
  std::memcpy(static_cast<void*>(&header), bytes.data(), sizeof(header));
  const auto bytes_of_header = std::as_bytes(std::span(bytes)).first(kCheckedHeaderBytes);
  const SectionPlace text =
      check_layout(bytes_of_header, bytes.size(), "test").value().place(SectionId::kSchema);
  json::value schema = json::parse(bytes.substr(text.offset_bytes, text.record_bytes));
  edit(schema.as_object());
  std::string changed = json::serialize(schema);
  REQUIRE(changed.size() <= text.record_bytes);
  changed.resize(text.record_bytes, ' ');
  bytes.replace(text.offset_bytes, changed.size(), changed);
  header.schema_hash = schema_hash(changed);
  std::memcpy(bytes.data(), static_cast<const void*>(&header), sizeof(header));
}

// As if a later version of the format had written the segment.
void raise_minor_version(std::string& bytes) {
  FixedHeader header;
  std::memcpy(static_cast<void*>(&header), bytes.data(), sizeof(header));
  ++header.minor;
  std::memcpy(bytes.data(), static_cast<const void*>(&header), sizeof(header));
}

// Gives a section another id, in the table of sections and in the schema text, as if a later
// version had added it.
void rename_section(std::string& bytes, SectionId from, std::uint32_t to, const std::string& name) {
  for (std::size_t i = 0; i < kSectionCapacity; ++i) {
    char* const place = bytes.data() + kSectionTableOffset + i * sizeof(SectionEntry);
    SectionEntry entry;
    std::memcpy(&entry, place, sizeof(entry));
    if (entry.id != static_cast<std::uint32_t>(from)) continue;
    entry.id = to;
    std::memcpy(place, &entry, sizeof(entry));
  }
  change_schema(bytes, [&](json::object& schema) {
    for (json::value& section : schema["sections"].as_array()) {
      if (section.at("id").to_number<std::uint32_t>() != static_cast<std::uint32_t>(from)) continue;
      section.as_object()["id"] = to;
      section.as_object()["name"] = name;
    }
  });
}

}  // namespace

TEST_CASE("The schema text describes every member of every record where it lies") {
  const json::value schema = json::parse(schema_text());
  for_each_table([&]<class Record>() {
    CAPTURE(TableOf<Record>::kName);
    const json::object* found = nullptr;
    for (const json::value& section : schema.at("sections").as_array()) {
      if (section.at("name").as_string() == TableOf<Record>::kName) found = &section.as_object();
    }
    REQUIRE(found != nullptr);
    CHECK(found->at("record_bytes").to_number<std::size_t>() == sizeof(Record));
    std::size_t described = 0;
    for (const Field& field : TableOf<Record>::kFields) {
      if (field.type == FieldType::kReserved) continue;
      const json::object& told = found->at("fields").as_array()[described++].as_object();
      CHECK(told.at("name").as_string() == field.name);
      CHECK(told.at("offset").to_number<std::uint32_t>() == field.offset_bytes);
      CHECK(told.at("size").to_number<std::uint32_t>() == field.size_bytes);
      CHECK_FALSE(told.at("help").as_string().empty());
    }
    CHECK(described == found->at("fields").as_array().size());
  });
}

TEST_CASE("Fields that an engine adds are shown under their names, beside all that is known") {
  const ScratchFolder folder("/dev/shm");
  SegmentWriter writer = publish(with_extra_fields(folder / "segment"));
  {
    Transaction transaction = writer.begin();
    JobRecord& job = transaction.recycle<JobRecord>(2);
    job.job = Id{7};
    job.state = JobState::kRunning;
    const auto extra = transaction.edit_extra<JobRecord>(2);
    REQUIRE(extra.size() == 3);
    extra[0] = 812'000;
    std::memcpy(&extra[1], "calibration", 11);
    transaction.edit<EngineRecord>().workers = 3;
    transaction.edit_extra<EngineRecord>()[0] = 41;
  }
  const json::object shown = json_of(folder / "segment");
  const json::object& job = shown.at("jobs").as_array().at(0).as_object();
  CHECK(job.at("job").as_string() == "7");
  CHECK(job.at("x_height").to_number<std::uint64_t>() == 812'000);
  CHECK(job.at("x_chain").as_string() == "calibration");
  CHECK(shown.at("engine").at("x_rounds").to_number<std::uint64_t>() == 41);
  CHECK(shown.at("engine").at("workers").to_number<std::uint64_t>() == 3);
}

TEST_CASE("A row that goes to another item loses what the engine's own fields said") {
  const ScratchFolder folder("/dev/shm");
  SegmentWriter writer = publish(with_extra_fields(folder / "segment"));
  const auto take = [&](std::uint64_t id) {
    Transaction transaction = writer.begin();
    JobRecord& job = transaction.recycle<JobRecord>(0);
    job.job = Id{id};
    job.state = JobState::kRunning;
    return transaction.edit_extra<JobRecord>(0)[0] += id;
  };
  CHECK(take(5) == 5);
  CHECK(take(6) == 6);
  const json::object shown = json_of(folder / "segment");
  const json::object& job = shown.at("jobs").as_array().at(0).as_object();
  CHECK(job.at("x_height").to_number<std::uint64_t>() == 6);
  CHECK(job.at("x_chain").is_null());
}

TEST_CASE("A table that only the segment's schema knows is shown with its fields") {
  const ScratchFolder folder("/dev/shm");
  {
    SegmentWriter writer = publish(small_segment(folder / "segment"));
    Transaction transaction = writer.begin();
    LimiterRecord& limiter = transaction.recycle<LimiterRecord>(1);
    limiter.name = std::string_view("licences");
    limiter.used = 9;
  }
  std::string bytes = read_whole(folder / "segment");
  rename_section(bytes, SectionId::kLimiters, 27, "quotas");
  write_whole(folder / "future", bytes);
  auto reader = SegmentReader::open_file(folder / "future");
  REQUIRE(reader.has_value());
  REQUIRE(reader->identity().schema != nullptr);
  Attachment attachment({.path = {}, .file = folder / "future", .options = {}, .places = {}});
  const json::object shown = to_json(attachment.observe());
  CHECK(shown.at("limiters").as_array().empty());
  REQUIRE(shown.at("quotas").as_array().size() == 1);
  const json::object& row = shown.at("quotas").as_array()[0].as_object();
  CHECK(row.at("name").as_string() == "licences");
  CHECK(row.at("used").to_number<std::uint64_t>() == 9);
  CHECK(row.at("row").to_number<std::uint64_t>() == 1);
}

TEST_CASE("In an older segment an engine's own fields lie where later members lie now") {
  SegmentLayout layout{};
  layout.header.fixed.minor = kMinorVersion - 1;
  const std::uint32_t end = sizeof(JobRecord);
  layout.sections[static_cast<std::size_t>(SectionId::kJobs)] = {SectionKind::kTable, 8192, 4096,
                                                                 end, 4};
  const std::string text = R"({"sections": [{"id": 8, "name": "jobs", "fields": [)"
                           R"({"name": "x_a", "type": "u64", "size": 8, "offset": )" +
                           std::to_string(end - 8) + "}]}]}";
  const auto schema = SegmentSchema::parse(text, layout);
  REQUIRE(schema != nullptr);
  CHECK(schema->own_bytes(SectionId::kJobs) == end - 8);
  CHECK(schema->unknown_fields(SectionId::kJobs).size() == 1);
}

TEST_CASE("What a schema text says beyond its segment's places is left out") {
  const SectionPlace jobs{SectionKind::kTable, 8192, 4096, sizeof(JobRecord) + 16, 4};
  SegmentLayout layout{};
  layout.header.fixed.minor = kMinorVersion;
  layout.sections[static_cast<std::size_t>(SectionId::kJobs)] = jobs;
  layout.sections[20] = {SectionKind::kTable, 65536, 512, 32, 4};
  const std::uint32_t end = sizeof(JobRecord);
  const auto parse_fields = [&](const std::string& fields) {
    return SegmentSchema::parse(
        R"({"sections": [{"id": 8, "name": "jobs", "fields": [)" + fields + "]}]}", layout);
  };
  const auto field = [](const std::string& name, const std::string& type, std::uint32_t offset,
                        std::uint32_t size) {
    return R"({"name": ")" + name + R"(", "type": ")" + type + R"(", "offset": )" +
           std::to_string(offset) + R"(, "size": )" + std::to_string(size) + "}";
  };
  const auto count = [](const std::shared_ptr<const SegmentSchema>& schema) {
    REQUIRE(schema != nullptr);
    return schema->unknown_fields(SectionId::kJobs).size();
  };
  CHECK(count(parse_fields(field("x_a", "u64", end, 8))) == 1);
  CHECK(count(parse_fields(field("x_a", "u64", end + 12, 8))) == 0);
  CHECK(count(parse_fields(field("x_a", "text", end, 24))) == 0);
  CHECK(count(parse_fields(field("x_a", "text", end, 4294967288U))) == 0);
  CHECK(count(parse_fields(field("x_a", "u64", 4294967288U, 8))) == 0);
  CHECK(count(parse_fields(field("x_a", "u64", end - 8, 8))) == 0);  // one of our own members
  CHECK(count(parse_fields(field("x a", "u64", end, 8))) == 0);
  CHECK(count(parse_fields(field("", "u64", end, 8))) == 0);
  CHECK(count(parse_fields(field("x_a", "u128", end, 8))) == 0);
  CHECK(SegmentSchema::parse("[1, 2", layout) == nullptr);
  CHECK(SegmentSchema::parse(R"({"sections": 5})", layout) == nullptr);
  const auto twice = SegmentSchema::parse(
      R"({"sections": [{"id": 20, "name": "q", "fields": []}, {"id": 20, "name": "r"},
          {"id": 21, "name": "nowhere"}, {"id": 99, "name": "far"}, {"id": -1}, 7]})",
      layout);
  REQUIRE(twice != nullptr);
  REQUIRE(twice->unknown_tables().size() == 1);
  CHECK(twice->unknown_tables()[0].name == "q");
}

TEST_CASE("A word that a later version appended to an enumeration is shown") {
  const ScratchFolder folder("/dev/shm");
  {
    SegmentWriter writer = publish(small_segment(folder / "segment"));
    Transaction transaction = writer.begin();
    transaction.recycle<JobRecord>(0).state = static_cast<JobState>(11);
  }
  CHECK(json_of(folder / "segment").at("jobs").as_array().at(0).at("state").as_string() ==
        "unknown");
  std::string bytes = read_whole(folder / "segment");
  change_schema(bytes, [](json::object& schema) {
    for (json::value& section : schema["sections"].as_array()) {
      if (section.at("name") != "jobs") continue;
      for (json::value& field : section.at("fields").as_array()) {
        field.as_object()["help"] = "";  // makes room for the word
        if (field.at("name") == "state") field.at("words").as_array().push_back("handed_over");
        if (field.at("name") == "priority") field.at("words").as_array()[1] = "lowest";
      }
    }
  });
  raise_minor_version(bytes);
  write_whole(folder / "later", bytes);
  Attachment attachment({.path = {}, .file = folder / "later", .options = {}, .places = {}});
  const json::object shown = to_json(attachment.observe());
  CHECK(shown.at("jobs").as_array().at(0).at("state").as_string() == "handed_over");
  // A list that contradicts ours is not believed.
  CHECK(shown.at("jobs").as_array().at(0).at("priority").as_string() == "unknown");
}

TEST_CASE("A schema text that was damaged does not hide what the catalogue knows") {
  const ScratchFolder folder("/dev/shm");
  {
    SegmentWriter writer = publish(with_extra_fields(folder / "segment"));
    Transaction transaction = writer.begin();
    transaction.recycle<JobRecord>(0).state = JobState::kRunning;
  }
  std::string bytes = read_whole(folder / "segment");
  bytes[bytes.find("x_height")] = '"';
  write_whole(folder / "damaged", bytes);
  auto reader = SegmentReader::open_file(folder / "damaged");
  REQUIRE(reader.has_value());
  CHECK(reader->identity().schema == nullptr);
  Snapshot snapshot;
  REQUIRE(reader->snapshot(snapshot).has_value());
  CHECK(snapshot.rows<JobRecord>().size() == 1);
}

TEST_CASE("A segment that has no more than the catalogue is shown without its schema text") {
  const ScratchFolder folder("/dev/shm");
  const SegmentWriter writer = publish(small_segment(folder / "segment"));
  const auto reader = SegmentReader::attach(folder / "segment");
  REQUIRE(reader.has_value());
  CHECK(reader->identity().schema == nullptr);
  std::string bytes = read_whole(folder / "segment");
  raise_minor_version(bytes);
  write_whole(folder / "later", bytes);
  const auto later = SegmentReader::open_file(folder / "later");
  REQUIRE(later.has_value());
  CHECK(later->identity().schema != nullptr);
}

TEST_CASE("A table that was never used is told to be one") {
  const ScratchFolder folder("/dev/shm");
  const SegmentWriter writer = publish(small_segment(folder / "segment"));
  const std::string bytes = read_whole(folder / "segment");
  const auto header = std::as_bytes(std::span(bytes)).first(kCheckedHeaderBytes);
  const SegmentLayout layout = check_layout(header, bytes.size(), "test").value();
  std::uint64_t rows_ever_used = 0;
  std::memcpy(
      &rows_ever_used,
      bytes.data() + layout.place(SectionId::kPartitions).offset_bytes + sizeof(std::uint64_t),
      sizeof(rows_ever_used));
  CHECK(rows_ever_used == 1);  // at least the first; 0 would not tell
}

TEST_CASE("The history keeps the last samples of complete transactions, oldest first") {
  const ScratchFolder folder("/dev/shm");
  SegmentOptions options = small_segment(folder / "segment");
  options.capacity.history = 16;
  SegmentWriter writer = publish(options);
  auto reader = SegmentReader::attach(folder / "segment");
  REQUIRE(reader.has_value());
  CHECK(reader->history()->empty());
  for (std::uint32_t i = 1; i <= 40; ++i) {
    Transaction transaction = writer.begin();
    HistorySample sample;
    sample.jobs_active = i;
    transaction.append(sample);
  }
  const auto history = reader->history();
  REQUIRE(history.has_value());
  REQUIRE(history->size() == 15);  // one slot may be in the writer's hands
  CHECK(history->front().jobs_active == 26);
  CHECK(history->back().jobs_active == 40);
  CHECK(history->back().sequence == 40);
}

TEST_CASE("Last words are read whole or not at all") {
  const ScratchFolder folder("/dev/shm");
  SegmentWriter writer = publish(small_segment(folder / "segment"));
  auto reader = SegmentReader::attach(folder / "segment");
  REQUIRE(reader.has_value());
  Snapshot snapshot;
  REQUIRE(reader->snapshot(snapshot).has_value());
  CHECK(snapshot.last_words.written == 0);
  LastWords words;
  words.signal = 11;
  words.thread = std::string_view("worker-1");
  words.job = Id{77};
  writer.write_last_words(words);
  writer.note_signal(11);
  REQUIRE(reader->snapshot(snapshot).has_value());
  CHECK(snapshot.last_words.written == 1);
  CHECK(snapshot.last_words.signal == 11);
  CHECK(snapshot.last_words.thread.view() == "worker-1");
  CHECK(snapshot.last_words.job == Id{77});
  CHECK(snapshot.last_signal == 11);
}

}  // namespace vitrine::shm
