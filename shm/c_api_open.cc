// SPDX-License-Identifier: Apache-2.0
// vitrine_open(): a caller's options, checked, and the segment made of them.
#include <algorithm>
#include <memory>
#include <set>

#include "shm/c_api_texts.h"
#include "shm/c_api_writer.h"
#include "shm/paths.h"

namespace vitrine::shm {
namespace {

constexpr std::uint32_t kListMax = 64;
constexpr std::uint32_t kRowsMax = 1U << 16;
constexpr std::uint32_t kEventsMax = 1U << 20;

struct Request {
  SegmentOptions segment;
  std::vector<LedgerStage> stages;
};

// Reads the options; the first rule that one of them breaks is `fault`.
class OptionCheck {
 public:
  explicit OptionCheck(const vitrine_options& options) : options_(options) {}

  // False when an option breaks a rule.
  bool run(Request& request);
  const std::string& fault() const { return fault_; }

 private:
  bool read_names(SegmentOptions& out);
  bool read_rows(Capacity& out);
  bool read_stages(std::vector<LedgerStage>& out);
  bool read_fields(std::vector<ExtraField>& out);
  bool read_field(const vitrine_extra_field& given, std::vector<ExtraField>& out);
  bool refuse(std::string fault) {
    fault_ = std::move(fault);
    return false;
  }

  const vitrine_options& options_;
  std::string fault_;
};

bool OptionCheck::read_names(SegmentOptions& out) {
  const std::string_view instance = given_text(options_.instance);
  out.instance = instance.empty() ? "main" : instance;
  if (!is_instance_name(out.instance)) {
    return refuse("instance " + out.instance + ": not of the form [a-z0-9_][a-z0-9_-]{0,31}");
  }
  out.engine_version = given_text(options_.engine_version);
  out.api_socket_path = given_text(options_.api_socket_path);
  const std::string_view path = given_text(options_.path);
  out.path = path.empty() ? default_segment_path(out.instance) : std::filesystem::path(path);
  if (options_.mode > 0777) return refuse("mode: not the access rights of a file");
  if (options_.mode != 0) out.mode = options_.mode;
  constexpr std::uint64_t kIntervalNsMax = 60'000'000'000;
  if (options_.heartbeat_interval_ns > kIntervalNsMax) {
    return refuse("heartbeat_interval_ns: more than a minute");
  }
  if (options_.heartbeat_interval_ns != 0) {
    out.heartbeat_interval_ns = options_.heartbeat_interval_ns;
  }
  return true;
}

bool OptionCheck::read_rows(Capacity& out) {
  struct Row {
    const char* name;
    std::uint32_t given;
    std::uint32_t max;
    std::uint32_t& out;
  };
  const Row rows[] = {{"jobs", options_.jobs, kRowsMax, out.jobs},
                      {"partitions", options_.partitions, kRowsMax, out.partitions},
                      {"workers", options_.workers, 4096, out.workers},
                      {"devices", options_.devices, 1024, out.devices},
                      {"events", options_.events, kEventsMax, out.events}};
  for (const Row& row : rows) {
    if (row.given > row.max) {
      return refuse(std::string(row.name) + ": more than " + std::to_string(row.max) + " rows");
    }
    if (row.given != 0) row.out = row.given;
  }
  return true;
}

bool OptionCheck::read_stages(std::vector<LedgerStage>& out) {
  if (options_.stage_count > kListMax || (options_.stage_count != 0 && !options_.stages)) {
    return refuse("stages: not a list of at most 64");
  }
  for (std::uint32_t i = 0; i < options_.stage_count; ++i) {
    const vitrine_stage& given = options_.stages[i];
    const bool has_class =
        given.stage_class >= VITRINE_STAGE_WAITING && given.stage_class <= VITRINE_STAGE_FINAL;
    if (!has_class) return refuse("stage " + std::to_string(i) + ": no such class");
    out.push_back({std::string(given_text(given.name)), StageClass{given.stage_class}});
  }
  return true;
}

bool is_extra_name(std::string_view name) {
  const auto is_allowed = [](char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte == '_';
  };
  return name.size() > 2 && name.size() <= 64 && name.starts_with("x_") &&
         std::ranges::all_of(name, is_allowed);
}

bool OptionCheck::read_field(const vitrine_extra_field& given, std::vector<ExtraField>& out) {
  ExtraField field;
  field.name = given_text(given.name);
  field.table = table_named(given_text(given.table));
  if (field.table == SectionId::kNone) return refuse(field.name + ": no such table for own fields");
  if (!is_extra_name(field.name)) {
    return refuse("field " + field.name + ": not of the form x_[a-z0-9_]{1,62}");
  }
  if (given.type != VITRINE_FIELD_U64 && given.type != VITRINE_FIELD_TEXT) {
    return refuse("field " + field.name + ": no such type");
  }
  if (given.type == VITRINE_FIELD_TEXT) {
    field.type = FieldType::kText;
    field.size_bytes = given.size_bytes;
  }
  std::uint32_t table_bytes = field.size_bytes;
  for (const ExtraField& other : out) {
    if (other.table != field.table) continue;
    if (other.name == field.name) return refuse("field " + field.name + ": is there twice");
    table_bytes += other.size_bytes;
  }
  const bool fits = field.size_bytes != 0 && field.size_bytes % 8 == 0 &&
                    field.size_bytes <= kExtraBytesMax && table_bytes <= kExtraBytesMax;
  if (!fits) return refuse("field " + field.name + ": its size is not a multiple of 8 that fits");
  field.help = given_text(given.help);
  out.push_back(field);
  return true;
}

bool OptionCheck::read_fields(std::vector<ExtraField>& out) {
  const std::uint32_t count = options_.extra_field_count;
  if (count > kListMax || (count != 0 && !options_.extra_fields)) {
    return refuse("extra_fields: not a list of at most 64");
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!read_field(options_.extra_fields[i], out)) return false;
  }
  return true;
}

bool OptionCheck::run(Request& request) {
  return read_names(request.segment) && read_rows(request.segment.capacity) &&
         read_stages(request.stages) && read_fields(request.segment.extra_fields);
}

int code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInUse:
      return VITRINE_IN_USE;
    case ErrorKind::kUnreadable:
      return VITRINE_UNREADABLE;
    default:
      return VITRINE_NO_SHARED_MEMORY;
  }
}

int open_writer(const vitrine_options* given, vitrine_writer*& out, std::string& error) {
  vitrine_options options;
  if (!read_sized(given, options)) {
    error = "options: no size";
    return VITRINE_BAD_ARGUMENT;
  }
  Request request;
  OptionCheck check(options);
  if (!check.run(request)) {
    error = check.fault();
    return VITRINE_BAD_ARGUMENT;
  }
  auto writer = std::make_unique<vitrine_writer>();
  writer->removes_at_close = options.remove_at_close != 0;
  int code = VITRINE_OK;
  Result<SegmentWriter> segment = SegmentWriter::publish_named(request.segment);
  if (!segment) {
    code = code_of(segment.error().kind);
    writer->error = error = segment.error().text;
    segment = SegmentWriter::in_private_memory(request.segment);
  } else {
    writer->error = error = segment->reader_obstacle();
  }
  writer->ledger =
      std::make_unique<JobLedger>(std::move(*segment), request.segment, std::move(request.stages));
  out = writer.release();
  return code;
}

}  // namespace

SectionId table_named(std::string_view name) {
  constexpr SectionId kTables[] = {SectionId::kEngine, SectionId::kDevices, SectionId::kWorkers,
                                   SectionId::kMemory, SectionId::kJobs,    SectionId::kPartitions};
  SectionId found = SectionId::kNone;
  for_each_table([&]<class Record>() {
    constexpr SectionId kSection = TableOf<Record>::kSection;
    if (TableOf<Record>::kName == name &&
        std::ranges::find(kTables, kSection) != std::end(kTables)) {
      found = kSection;
    }
  });
  return found;
}

}  // namespace vitrine::shm

using namespace vitrine::shm;

extern "C" int vitrine_open(const vitrine_options* options, vitrine_writer** writer, char* error,
                            size_t error_size) {
  copy_out("", error, error_size);
  if (writer == nullptr) return VITRINE_BAD_ARGUMENT;
  *writer = nullptr;
  return without_exceptions([&] {
    std::string text;
    const int code = open_writer(options, *writer, text);
    copy_out(text, error, error_size);
    return code;
  });
}
