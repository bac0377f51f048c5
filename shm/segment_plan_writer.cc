// SPDX-License-Identifier: Apache-2.0
#include "shm/segment_plan_writer.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <fstream>
#include <iterator>

#include "shm/clock.h"
#include "shm/schema_text.h"

namespace vitrine::shm {
namespace {

template <class Record>
std::uint32_t rows_of(const Capacity& capacity) {
  switch (TableOf<Record>::kSection) {
    case SectionId::kJobs:
      return capacity.jobs;
    case SectionId::kPartitions:
      return capacity.partitions;
    case SectionId::kWorkers:
      return capacity.workers;
    case SectionId::kDevices:
      return capacity.devices;
    case SectionId::kAllocations:
      return capacity.allocations;
    case SectionId::kQueues:
      return capacity.queues;
    case SectionId::kCounters:
      return capacity.counters;
    case SectionId::kThreads:
      return capacity.threads;
    case SectionId::kLimiters:
      return capacity.limiters;
    case SectionId::kStageTimes:
      return capacity.stage_times;
    case SectionId::kSettings:
      return capacity.settings;
    case SectionId::kErrors:
      return capacity.errors;
    default:
      return 1;
  }
}

void add_section(SegmentPlan& plan, SectionEntry entry, std::size_t size_bytes) {
  entry.offset_bytes = plan.total_bytes;
  plan.sections.push_back(entry);
  plan.total_bytes += (size_bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

template <class Entry>
void add_ring(SegmentPlan& plan, SectionId id, std::uint32_t count) {
  add_section(plan,
              {.id = static_cast<std::uint32_t>(id),
               .record_bytes = sizeof(Entry),
               .stride_bytes = sizeof(Entry),
               .count = count,
               .offset_bytes = 0,
               .kind = SectionKind::kRing,
               .reserved = 0},
              kLineBytes + std::size_t{count} * sizeof(Entry));
}

// One record that is never versioned: a block of single words, or a text.
void add_single(SegmentPlan& plan, SectionId id, SectionKind kind, std::size_t size_bytes) {
  const auto size = static_cast<std::uint32_t>(size_bytes);
  add_section(plan,
              {.id = static_cast<std::uint32_t>(id),
               .record_bytes = size,
               .stride_bytes = size,
               .count = 1,
               .offset_bytes = 0,
               .kind = kind,
               .reserved = 0},
              size_bytes);
}

template <std::size_t kSize>
void copy_text(std::array<char, kSize>& out, const std::string& text) {
  std::memcpy(out.data(), text.data(), std::min(text.size(), kSize - 1));
}

// Field 22 of /proc/self/stat. The second field is a name that may hold spaces; it ends at the
// last closing parenthesis.
std::uint64_t read_start_ticks() {
  std::ifstream file("/proc/self/stat");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  constexpr int kFieldsAfterName = 20;
  std::size_t at = name_end + 1;
  for (int field = 1; field < kFieldsAfterName && at != std::string::npos; ++field) {
    at = text.find(' ', at + 1);
  }
  return at == std::string::npos ? 0 : std::strtoull(text.c_str() + at, nullptr, 10);
}

std::uint64_t read_pid_namespace() {
  struct stat found {};
  return ::stat("/proc/self/ns/pid", &found) == 0 ? found.st_ino : 0;
}

}  // namespace

std::size_t SegmentPlan::offset_of(SectionId id) const {
  for (const SectionEntry& entry : sections) {
    if (entry.id == static_cast<std::uint32_t>(id)) return entry.offset_bytes;
  }
  assert(false && "every section of the catalogue is planned");
  return 0;
}

std::uint32_t SegmentPlan::count_of(SectionId id) const {
  for (const SectionEntry& entry : sections) {
    if (entry.id == static_cast<std::uint32_t>(id)) return entry.count;
  }
  return 0;
}

std::uint32_t extra_bytes_of(SectionId table, std::span<const ExtraField> extra_fields) {
  std::uint32_t bytes = 0;
  for (const ExtraField& extra : extra_fields) {
    if (extra.table == table) bytes += extra.size_bytes;
  }
  assert(bytes % 8 == 0 && bytes <= kExtraBytesMax);
  return bytes;
}

SegmentPlan plan_segment(const Capacity& capacity, std::span<const ExtraField> extra_fields) {
  SegmentPlan plan;
  plan.total_bytes = kHotLinesOffset;
  add_single(plan, SectionId::kHotLines, SectionKind::kBlock, sizeof(HotLines));
  plan.total_bytes = kPageBytes;
  for_each_table([&]<class Record>() {
    constexpr SectionId kSection = TableOf<Record>::kSection;
    const std::uint32_t record_bytes =
        static_cast<std::uint32_t>(sizeof(Record)) + extra_bytes_of(kSection, extra_fields);
    const SectionEntry entry{
        .id = static_cast<std::uint32_t>(kSection),
        .record_bytes = record_bytes,
        .stride_bytes = static_cast<std::uint32_t>(record_stride_bytes(record_bytes)),
        .count = rows_of<Record>(capacity),
        .offset_bytes = 0,
        .kind = SectionKind::kTable,
        .reserved = 0};
    add_section(plan, entry, std::size_t{entry.count} * entry.stride_bytes);
  });
  add_ring<Event>(plan, SectionId::kEvents, capacity.events);
  add_ring<HistorySample>(plan, SectionId::kHistory, capacity.history);
  add_single(plan, SectionId::kLastWords, SectionKind::kBlock, sizeof(LastWords));
  plan.schema_text = schema_text(extra_fields);
  add_single(plan, SectionId::kSchema, SectionKind::kText, plan.schema_text.size());
  assert(plan.sections.size() <= kSectionCapacity && plan.total_bytes <= kSegmentBytesMax);
  return plan;
}

Header header_of(const SegmentPlan& plan, const SegmentOptions& options,
                 const Incarnation& incarnation) {
  Header header{};
  header.fixed.magic = kMagic;
  header.fixed.byte_order = kByteOrder;
  header.fixed.major = kMajorVersion;
  header.fixed.minor = kMinorVersion;
  header.fixed.header_bytes = kHotLinesOffset;
  header.fixed.total_bytes = plan.total_bytes;
  header.fixed.optional_features =
      kFeatureSchemaText | kFeatureRowsEverUsed | kFeatureSectionKinds | kFeatureLastWords;
  header.incarnation = incarnation;
  header.boot_id = boot_id();
  header.pid = static_cast<std::uint64_t>(::getpid());
  header.pid_namespace_inode = read_pid_namespace();
  header.process_start_ticks = read_start_ticks();
  header.uid = ::geteuid();
  header.section_count = static_cast<std::uint32_t>(plan.sections.size());
  header.schema_hash = schema_hash(plan.schema_text);
  header.created_unix_ns = static_cast<std::uint64_t>(unix_ns());
  char host[64] = {};
  if (::gethostname(host, sizeof(host) - 1) == 0) copy_text(header.host, host);
  copy_text(header.engine_version, options.engine_version);
  copy_text(header.instance, options.instance);
  copy_text(header.api_socket_path, options.api_socket_path);
  return header;
}

void write_header(std::byte* segment, const SegmentPlan& plan, const SegmentOptions& options,
                  const Incarnation& incarnation) {
  const Header header = header_of(plan, options, incarnation);
  std::memcpy(segment, &header, sizeof(header));
  std::memcpy(segment + kSectionTableOffset, plan.sections.data(),
              plan.sections.size() * sizeof(SectionEntry));
  std::memcpy(segment + plan.offset_of(SectionId::kSchema), plan.schema_text.data(),
              plan.schema_text.size());
}

}  // namespace vitrine::shm
