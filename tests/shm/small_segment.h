// SPDX-License-Identifier: Apache-2.0
// A small segment, and the bytes of files.
#pragma once

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "shm/segment_writer.h"
#include "tests/scratch_folder.h"

namespace vitrine::shm {

inline SegmentOptions small_segment(const std::filesystem::path& path) {
  SegmentOptions options;
  options.instance = "main";
  options.path = path;
  options.engine_version = "1.2.3";
  options.api_socket_path = "/nowhere/main.sock";
  options.capacity.jobs = 8;
  options.capacity.partitions = 64;
  options.capacity.workers = 8;
  options.capacity.devices = 2;
  options.capacity.allocations = 4;
  options.capacity.queues = 4;
  options.capacity.counters = 4;
  options.capacity.threads = 8;
  options.capacity.limiters = 4;
  options.capacity.stage_times = 4;
  options.capacity.settings = 4;
  options.capacity.errors = 4;
  options.capacity.events = 64;
  options.capacity.history = 64;
  return options;
}

inline SegmentWriter publish(const SegmentOptions& options) {
  auto writer = SegmentWriter::publish_named(options);
  INFO((writer ? std::string() : writer.error().text));
  REQUIRE(writer.has_value());
  return std::move(*writer);
}

inline std::string read_whole(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_whole(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace vitrine::shm
