// SPDX-License-Identifier: Apache-2.0
// An engine that publishes through the C interface, and a reader of it.
#pragma once

#include <catch2/catch.hpp>
#include <iterator>
#include <string>

#include "shm/invariants.h"
#include "shm/segment_reader.h"
#include "shm/vitrine.h"
#include "tests/scratch_folder.h"

namespace vitrine::shm {

inline constexpr vitrine_stage kStages[] = {{"in line", VITRINE_STAGE_WAITING},
                                            {"folding", VITRINE_STAGE_CPU},
                                            {"committing", VITRINE_STAGE_DEVICE},
                                            {"wrapping", VITRINE_STAGE_FINISHING},
                                            {"sealed", VITRINE_STAGE_FINAL}};
inline constexpr vitrine_extra_field kFields[] = {
    {"jobs", "x_cost", VITRINE_FIELD_U64, 0, "what the client pays"},
    {"partitions", "x_layer", VITRINE_FIELD_TEXT, 16, "which layer"}};

// A writer of its own segment, closed with the test.
struct Engine {
  SharedScratchFolder folder;
  std::string path = folder / "other.segment";
  vitrine_writer* writer = nullptr;
  std::uint32_t device = 0;
  std::uint32_t worker = 0;

  explicit Engine(std::uint32_t jobs = 8, std::uint32_t partitions = 64) {
    REQUIRE(open(jobs, partitions) == VITRINE_OK);
    REQUIRE(vitrine_device_add(writer, VITRINE_DEVICE_CPU, "lathe", 2, &device) == VITRINE_OK);
    REQUIRE(vitrine_worker_add(writer, device, &worker) == VITRINE_OK);
    REQUIRE(vitrine_ready(writer) == VITRINE_OK);
  }
  ~Engine() { vitrine_close(writer, 0); }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  int open(std::uint32_t jobs, std::uint32_t partitions) {
    vitrine_options options{};
    options.size = sizeof(options);
    options.instance = "other";
    options.engine_version = "other 9.9";
    options.path = path.c_str();
    options.jobs = jobs;
    options.partitions = partitions;
    options.events = 256;
    options.stages = kStages;
    options.stage_count = std::size(kStages);
    options.extra_fields = kFields;
    options.extra_field_count = std::size(kFields);
    char error[128];
    const int code = vitrine_open(&options, &writer, error, sizeof(error));
    INFO(error);
    return code;
  }

  std::uint64_t submit(std::uint32_t partitions, const char* kind = "fold") {
    vitrine_job job{};
    job.size = sizeof(job);
    job.circuit = "tower";
    job.proof_kind = kind;
    job.partitions = partitions;
    std::uint64_t number = 0;
    vitrine_job_submit(writer, &job, &number);
    return number;
  }

  std::string error() const {
    char text[256];
    vitrine_writer_error(writer, text, sizeof(text));
    return text;
  }

  Snapshot snapshot() const {
    auto reader = SegmentReader::attach(path);
    REQUIRE(reader.has_value());
    Snapshot snapshot;
    REQUIRE(reader->snapshot(snapshot).has_value());
    for (const std::string& violation : check_invariants(snapshot, nullptr)) FAIL_CHECK(violation);
    return snapshot;
  }
};

struct Reader {
  vitrine_reader* reader = nullptr;
  vitrine_snapshot* taken = nullptr;

  explicit Reader(const Engine& engine) {
    vitrine_target target{};
    target.size = sizeof(target);
    target.path = engine.path.c_str();
    REQUIRE(vitrine_attach(&target, &reader, nullptr, 0) == VITRINE_OK);
  }
  ~Reader() {
    vitrine_snapshot_free(taken);
    vitrine_detach(reader);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  int look() {
    vitrine_snapshot_free(taken);
    return vitrine_look(reader, &taken);
  }
  std::string text(const char* table, const char* field, std::uint32_t row = 0) const {
    const vitrine_place place{table, field, row, 0};
    char out[128];
    const auto length = vitrine_get_text(taken, &place, out, sizeof(out));
    return length < 0 ? vitrine_code_text(static_cast<int>(length)) : out;
  }
  std::uint64_t number(const char* table, const char* field, std::uint32_t row = 0) const {
    const vitrine_place place{table, field, row, 0};
    std::uint64_t value = 0;
    REQUIRE(vitrine_get_u64(taken, &place, &value) == VITRINE_OK);
    return value;
  }
};

}  // namespace vitrine::shm
