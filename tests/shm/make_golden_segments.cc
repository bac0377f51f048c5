// SPDX-License-Identifier: Apache-2.0
// Writes the golden segments of this version, and those of a version to come, and beside every
// golden segment the JSON that a reader makes of it (tests/data/segments/README.md).
//
// Usage    VITRINE_GOLDEN=FOLDER make_golden_segments
// Why      a program, not a test: goldens are written once for a version and then only read.
#include <boost/json/parse.hpp>
#include <cstdio>

#include "shm/schema_text.h"
#include "tests/shm/dead_segment.h"
#include "tests/shm/segment_json.h"
#include "tests/shm/small_segment.h"

namespace vitrine::shm {
namespace {

namespace json = boost::json;

constexpr Id kJob{7'000'000'000'000'000'001};

Instant before_beat(std::uint64_t ms) { return Instant{kDeadBeatNs - ms * 1'000'000}; }

SegmentOptions options_of(const std::filesystem::path& path) {
  SegmentOptions options = small_segment(path);
  options.api_socket_path.assign("/run/vitrine/main.sock");
  options.capacity = {.jobs = 4,
                      .partitions = 8,
                      .workers = 2,
                      .devices = 1,
                      .allocations = 2,
                      .queues = 4,
                      .counters = 2,
                      .threads = 4,
                      .limiters = 2,
                      .stage_times = 3,
                      .settings = 4,
                      .errors = 2,
                      .events = 16,
                      .history = 8};
  options.extra_fields = {{.table = SectionId::kJobs,
                           .name = "x_price_cents",
                           .semantics = Semantics::kInfo,
                           .help = "what it costs"},
                          {.table = SectionId::kJobs,
                           .name = "x_customer",
                           .type = FieldType::kText,
                           .size_bytes = 16,
                           .help = "who pays"}};
  return options;
}

void fill_engine(Transaction& open) {
  EngineRecord& engine = open.edit<EngineRecord>();
  engine.requested_backend = Backend::kAuto;
  engine.effective_backend = Backend::kCpu;
  engine.kernel_path.assign("x86-64 adx");
  engine.started = before_beat(60'000);
  engine.synthesis_limit = 2;
  engine.workers = 2;
  DeviceRecord& device = open.recycle<DeviceRecord>(0);
  device.kind = Backend::kCpu;
  device.state = DeviceState::kUp;
  device.name.assign("CPU of prover-1");
  device.threads = 8;
  device.state_since = before_beat(60'000);
  for (std::uint32_t row = 0; row < 2; ++row) {
    WorkerRecord& worker = open.recycle<WorkerRecord>(row);
    worker.state = WorkerState::kIdle;
    worker.idle_reason = IdleReason::kNoWork;
    worker.device = Index::of(0);
    worker.since = before_beat(60'000);
  }
  MemoryRecord& memory = open.edit<MemoryRecord>();
  memory.budget_bytes = std::uint64_t{1} << 63;
  memory.reserved_bytes = 4096;
  open.edit<BuffersRecord>().synth_in_flight = 1;
  AllocationRecord& allocation = open.recycle<AllocationRecord>(1);
  allocation.kind = AllocationKind::kSrs;
  allocation.state = AllocationState::kReady;
  allocation.circuit.assign("demo");
  allocation.loaded_bytes = allocation.total_bytes = 4096;
  allocation.last_used = before_beat(20'000);
  open.recycle<CountersRecord>(0).proof_kind.assign("demo");
}

void fill_news_of_1_1(Transaction& open) {
  QueueRecord& all = open.recycle<QueueRecord>(0);
  all.name = QueueName::kJobs;
  all.depth = 2;
  all.oldest = before_beat(40'000);
  QueueRecord& high = open.recycle<QueueRecord>(1);
  high.name = QueueName::kJobs;
  high.priority = Priority::kHigh;
  ThreadRecord& thread = open.recycle<ThreadRecord>(0);
  thread.name.assign("worker-1");
  thread.step.assign("gpu_proving");
  thread.since = before_beat(20'000);
  thread.limit_ns = 3'600'000'000'000;
  thread.beats = 9;
  thread.job = kJob;
  thread.worker = Index::of(1);
  LimiterRecord& limiter = open.recycle<LimiterRecord>(0);
  limiter.name.assign("synthesis");
  limiter.limit = 2;
  limiter.used_peak = 2;
  StageTimesRecord& times = open.recycle<StageTimesRecord>(2);
  times.proof_kind.assign("demo");
  times.stage = PartitionStage::kDone;
  for (const std::uint64_t duration_ns : {800'000ULL, 3'000'000'000ULL, 20'000'000'000'000ULL}) {
    ++times.count;
    times.sum_ns += duration_ns;
    times.max_ns = duration_ns;
    times.times.add(duration_ns);
  }
  SettingRecord& setting = open.recycle<SettingRecord>(0);
  setting.name.assign("memory_budget");
  setting.value.assign("auto");
  setting.origin.assign("default");
  ErrorRecord& error = open.recycle<ErrorRecord>(0);
  error.failure_class = FailureClass::kBadInput;
  error.count = 3;
  error.first = before_beat(30'000);
  error.last = before_beat(10'000);
  error.text.assign("witness: a value is not below the modulus");
}

void add_job(Transaction& open, std::uint32_t row, JobState state) {
  JobRecord& job = open.recycle<JobRecord>(row);
  job.job = Id{kJob.value + row};
  job.state = state;
  job.priority = Priority::kNormal;
  job.circuit.assign("demo");
  job.attempt = 1;
  job.partitions = 1;
  job.submitted = before_beat(50'000);
  if (is_final(state)) job.finished = before_beat(45'000);
  if (state == JobState::kFailed) {
    job.failure_class = FailureClass::kBadInput;
    job.failure_partition = Index::of(0);
    job.failure.assign("cut \xC3");  // half a character
  }
  open.edit_extra<JobRecord>(row)[0] = 100 + row;
  std::memcpy(open.edit_extra<JobRecord>(row).data() + 1, "customer", 8);
  PartitionRecord& partition = open.recycle<PartitionRecord>(row);
  partition.job = job.job;
  partition.job_row = Index::of(row);
  partition.attempt = 1;
  partition.created = job.submitted;
  partition.stage = state == JobState::kDone     ? PartitionStage::kDone
                    : state == JobState::kFailed ? PartitionStage::kFailed
                                                 : PartitionStage::kGpuProving;
  partition.stage_name.assign("folding");
  Event event;
  event.type = EventType::kSubmit;
  event.time = job.submitted;
  event.job = job.job;
  event.argument = 1;
  open.append(event);
  HistorySample sample;
  sample.time = before_beat(50'000 - row * 1'000);
  sample.jobs_done = row;
  open.append(sample);
}

void fill(SegmentWriter& writer) {
  {
    Transaction open = writer.begin();
    fill_engine(open);
  }
  writer.set_life(EngineLife::kReady, 0);
  for (const JobState state : {JobState::kDone, JobState::kFailed, JobState::kRunning}) {
    Transaction open = writer.begin();
    add_job(open,
            static_cast<std::uint32_t>(state == JobState::kDone     ? 0
                                       : state == JobState::kFailed ? 1
                                                                    : 2),
            state);
  }
  Transaction open = writer.begin();
  fill_news_of_1_1(open);
  WorkerRecord& worker = open.edit<WorkerRecord>(1);
  worker.state = WorkerState::kProving;
  worker.idle_reason = IdleReason::kNone;
  worker.job = Id{kJob.value + 2};
  worker.stage = PartitionStage::kGpuProving;
  worker.since = before_beat(20'000);
  open.edit<JobRecord>(2).expected_end = {kDeadBeatNs + 3'000'000'000};
  open.recycle<JobRecord>(3).circuit.assign("emptied");
  open.clear<JobRecord>(3);
}

LastWords last_words() {
  LastWords words;
  words.signal = 11;
  words.signal_code = 1;
  words.time = before_beat(0);
  words.thread.assign("worker-1");
  words.job = Id{kJob.value + 2};
  words.partition = Index::of(0);
  words.stage = PartitionStage::kGpuProving;
  return words;
}

// The segment of this version, whose engine was struck down by a signal.
std::string segment_1_2() {
  SharedScratchFolder folder;
  const auto path = folder / "main.segment";
  {
    SegmentWriter writer = publish(options_of(path));
    fill(writer);
    writer.note_signal(15);
    writer.write_last_words(last_words());
  }
  std::string bytes = read_whole(path);
  settle_dead(bytes);
  return bytes;
}

// Adds sections behind a segment's end.
class Extension {
 public:
  explicit Extension(std::string& bytes) : bytes_(bytes) {}

  void add(SectionEntry entry, const std::string& content) {
    auto header = part_at<Header>(bytes_, 0);
    bytes_.resize((bytes_.size() + kPageBytes - 1) / kPageBytes * kPageBytes);
    entry.offset_bytes = bytes_.size();
    std::uint32_t index = 0;  // of its id, or of a new entry
    while (index < header.section_count && entry_at(index).id != entry.id) ++index;
    header.section_count = std::max(header.section_count, index + 1);
    set_part(bytes_, kSectionTableOffset + index * sizeof(entry), entry);
    bytes_ += content;
    header.fixed.total_bytes = bytes_.size();
    set_part(bytes_, 0, header);
  }
  SectionEntry entry_at(std::uint32_t index) const {
    return part_at<SectionEntry>(bytes_, kSectionTableOffset + index * sizeof(SectionEntry));
  }

 private:
  std::string& bytes_;
};

// Three rows of a table that no reader of today knows; the one in the middle is free.
std::string tenants() {
  constexpr std::size_t kStride = record_stride_bytes(48);
  std::string table(3 * kStride, '\0');
  set_part(table, 8, std::uint64_t{3});
  for (const std::uint64_t row : {0, 1, 2}) {
    const std::size_t line = row * kStride;
    set_part(table, line, std::uint64_t{1});
    const std::size_t slot = line + kLineBytes + slot_bytes(48);
    set_part(table, slot, Identity{1, static_cast<std::uint32_t>(row), 1});
    if (row == 1) continue;
    table.replace(slot + 16, 6, row == 0 ? "first\0" : "third\0", 6);
    set_part(table, slot + 32, std::uint64_t{4096} << row);
    set_part(table, slot + 40, before_beat(1'000 * row).ns);
  }
  return table;
}

json::object told_field(std::string_view name, std::string_view type, std::uint32_t offset,
                        std::uint32_t size) {
  return {{"name", name},         {"type", type}, {"offset", offset},      {"size", size},
          {"semantics", "gauge"}, {"unit", ""},   {"stability", "stable"}, {"help", ""}};
}

// The text of the version to come: the catalogue's, with a member and a table more.
std::string future_text(const std::string& text) {
  json::value told = json::parse(text);
  json::array& sections = told.as_object().at("sections").as_array();
  for (json::value& section : sections) {
    if (section.as_object().at("name") != "jobs") continue;
    json::object& last = section.as_object().at("fields").as_array().back().as_object();
    last.at("name") = "tenant";
    last.at("stability") = "stable";
  }
  sections.push_back(
      {{"id", 21},
       {"name", "tenants"},
       {"kind", "table"},
       {"shape", "list"},
       {"record_bytes", 48},
       {"fields",
        {told_field("stamp", "id", 0, 8), told_field("row", "u32", 8, 4),
         told_field("generation", "u32", 12, 4), told_field("name", "text", 16, 16),
         told_field("quota_bytes", "u64", 32, 8), told_field("since", "instant", 40, 8)}}});
  return json::serialize(told);
}

std::string future(std::string bytes) {
  auto header = part_at<Header>(bytes, 0);
  Extension extension(bytes);
  SectionEntry text_entry{};
  for (std::uint32_t i = 0; i < header.section_count; ++i) {
    if (extension.entry_at(i).id == static_cast<std::uint32_t>(SectionId::kSchema)) {
      text_entry = extension.entry_at(i);
    }
  }
  const std::string text =
      future_text(bytes.substr(text_entry.offset_bytes, text_entry.record_bytes));
  const auto stride = static_cast<std::uint32_t>(record_stride_bytes(48));
  extension.add({21, 48, stride, 3, 0, SectionKind::kTable, 0}, tenants());
  extension.add({22, 32, 32, 4, 0, SectionKind::kRing, 0}, std::string(kLineBytes + 4 * 32, '\0'));
  extension.add({23, 64, 64, 1, 0, SectionKind::kBlock, 0}, std::string(64, '\1'));
  extension.add({24, 7, 3, 999, 0, static_cast<SectionKind>(9), 0}, "of a kind to come");
  extension.add({40, 7, 3, 999, 0, SectionKind::kTable, 0}, "of an id to come");
  const auto text_bytes = static_cast<std::uint32_t>(text.size());
  extension.add({13, text_bytes, text_bytes, 1, 0, SectionKind::kText, 0}, text);
  header = part_at<Header>(bytes, 0);
  header.fixed.minor = 7;
  header.fixed.optional_features |= std::uint64_t{1} << 40;
  header.schema_hash = schema_hash(text);
  set_part(bytes, 0, header);
  return bytes;
}

// The first page alone: refused before anything else is looked at.
std::string refused(const std::string& bytes, std::uint16_t major, std::uint64_t required) {
  std::string page = bytes.substr(0, kPageBytes);
  auto fixed = part_at<FixedHeader>(page, 0);
  fixed.major = major;
  fixed.required_features = required;
  set_part(page, 0, fixed);
  return page;
}

void run(const std::filesystem::path& folder) {
  const std::string bytes = segment_1_2();
  const std::pair<const char*, std::string> made[] = {
      {"v1_2", bytes},
      {"future", future(bytes)},
      {"refused_newer_major", refused(bytes, 2, 0)},
      {"refused_older_major", refused(bytes, 0, 0)},
      {"refused_feature", refused(bytes, kMajorVersion, 1U << 5)}};
  for (const auto& [name, content] : made) {
    const auto path = folder / (std::string(name) + ".segment");
    write_whole(path, content);
    auto beside = path;
    write_whole(beside.replace_extension(".json"), lines_of(segment_json(path)));
  }
}

}  // namespace

TEST_CASE("Write the golden segments to the folder that VITRINE_GOLDEN names") {
  const char* folder = std::getenv("VITRINE_GOLDEN");
  REQUIRE(folder != nullptr);
  run(folder);
}

}  // namespace vitrine::shm
