// SPDX-License-Identifier: Apache-2.0
// The bytes of a very small segment, written by the real writer, with something in every member of
// every row. It follows the catalogue when that grows.
#pragma once

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "shm/segment_writer.h"
#include "tests/scratch_folder.h"

namespace vitrine::shm {

inline constexpr std::uint64_t kFilledInstantNs = 100'000'000'000;

// Something in every member: a word, a number or a text.
template <class Record>
void fill_members(Record& record, std::uint64_t number) {
  auto* bytes = reinterpret_cast<char*>(&record);
  for (const Field& field : TableOf<Record>::kFields) {
    char* member = bytes + field.offset_bytes;
    switch (field.type) {
      case FieldType::kReserved:
        break;
      case FieldType::kText:
        std::strncpy(member, std::string(number % 24 + 1, 'a').c_str(), field.size_bytes);
        break;
      case FieldType::kInstant: {
        const std::uint64_t instant_ns = kFilledInstantNs + number;
        std::memcpy(member, &instant_ns, sizeof(instant_ns));
        break;
      }
      default:  // a histogram is as many numbers
        for (std::uint32_t at = 0; at < field.size_bytes; at += sizeof(number)) {
          std::memcpy(member + at, &number,
                      std::min<std::size_t>(sizeof(number), field.size_bytes - at));
        }
    }
  }
}

inline void commit_everywhere(SegmentWriter& writer, const Capacity& capacity,
                              std::uint64_t number) {
  Transaction transaction = writer.begin();
  for_each_table([&]<class Record>() {
    const auto plan = plan_segment(capacity);
    for (std::uint32_t row = 0; row < plan.count_of(TableOf<Record>::kSection); ++row) {
      Record& record = transaction.edit<Record>(row);
      const Identity identity = record.identity;
      fill_members(record, number + row);
      record.identity = identity;
    }
  });
  Event event;
  event.time = {kFilledInstantNs};
  event.job = {number};
  event.type = EventType::kSubmit;
  transaction.append(event);
}

inline SegmentOptions smallest_segment(const std::filesystem::path& path) {
  SegmentOptions options;
  options.instance = "main";
  options.path = path;
  options.engine_version = "1.2.3";
  options.api_socket_path = "/nowhere/main.sock";
  options.capacity = {.jobs = 2,
                      .partitions = 3,
                      .workers = 2,
                      .devices = 1,
                      .allocations = 1,
                      .queues = 1,
                      .counters = 2,
                      .threads = 2,
                      .limiters = 1,
                      .stage_times = 1,
                      .settings = 2,
                      .errors = 1,
                      .events = 8,
                      .history = 8};
  return options;
}

// An engine that committed so often into every row, said that it is ready, beat once and ended. A
// row has four slots and the event ring eight: eleven commits use each of them several times.
inline std::string filled_segment(std::uint64_t commits) {
  const SharedScratchFolder scratch;
  const auto options = smallest_segment(scratch / "main.segment");
  {
    auto writer = SegmentWriter::publish_named(options);
    if (!writer) throw std::runtime_error(writer.error().text);
    for (std::uint64_t number = 1; number <= commits; ++number) {
      commit_everywhere(*writer, options.capacity, number);
    }
    writer->set_life(EngineLife::kReady, 0);
    writer->beat();
  }
  std::ifstream file(options.path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace vitrine::shm
