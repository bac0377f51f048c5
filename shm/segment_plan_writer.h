// SPDX-License-Identifier: Apache-2.0
// The plan of a segment about to be made: where each section goes, and the header that says so.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "shm/catalogue.h"
#include "shm/extra_field.h"
#include "shm/incarnation.h"
#include "shm/layout.h"

namespace vitrine::shm {

// Rows per table; `events` is the length of the ring. Stated in the segment's table of sections.
struct Capacity {
  std::uint32_t jobs = 512;
  std::uint32_t partitions = 4096;
  std::uint32_t workers = 64;
  std::uint32_t devices = 16;
  std::uint32_t allocations = 192;
  std::uint32_t queues = 24;
  std::uint32_t counters = 9;
  std::uint32_t threads = 128;
  std::uint32_t limiters = 16;
  std::uint32_t stage_times = 72;
  std::uint32_t settings = 512;
  std::uint32_t errors = 64;
  std::uint32_t events = 16384;
  std::uint32_t history = 1024;  // seconds: a quarter of an hour, and some
};

struct SegmentOptions {
  std::string instance;
  std::filesystem::path path;
  std::string engine_version;
  std::string api_socket_path;
  Capacity capacity;
  std::vector<ExtraField> extra_fields;
  unsigned mode = 0640;
  std::optional<unsigned> group;
  std::uint64_t heartbeat_interval_ns = 100'000'000;
};

struct SegmentPlan {
  std::vector<SectionEntry> sections;
  std::string schema_text;
  std::size_t total_bytes = 0;

  std::size_t offset_of(SectionId id) const;
  std::uint32_t count_of(SectionId id) const;
};

SegmentPlan plan_segment(const Capacity& capacity, std::span<const ExtraField> extra_fields = {});

// Bytes that the extra fields add to each row of `table`.
std::uint32_t extra_bytes_of(SectionId table, std::span<const ExtraField> extra_fields);

// The header of a segment that this process publishes.
Header header_of(const SegmentPlan& plan, const SegmentOptions& options,
                 const Incarnation& incarnation);

// Fills header, table of sections and the schema text of a zeroed segment.
void write_header(std::byte* segment, const SegmentPlan& plan, const SegmentOptions& options,
                  const Incarnation& incarnation);

}  // namespace vitrine::shm
