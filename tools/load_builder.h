// SPDX-License-Identifier: Apache-2.0
// LoadBuilder: from the snapshots of a recording to a load for `vitrined --simulate`.
//
// Layout   the lines of docs/simulator.md: settings, devices, circuits, then jobs as they came.
// Units    bytes; durations in whole milliseconds.
// Why      what an operator asks is "would these jobs have waited with more memory": the load is
//          text, so that one number is changed and the simulator asked again.
// Threads  one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "shm/snapshot.h"

namespace vitrine::tools {

class LoadBuilder {
 public:
  // In the order of time.
  void add(const shm::Snapshot& snapshot);

  std::size_t jobs() const { return jobs_.size(); }
  // What could not be told, a line each; empty when all was seen.
  std::vector<std::string> gaps() const;
  std::string text() const;

 private:
  struct Mean {
    std::uint64_t sum_ns = 0, count = 0;
    std::string text() const;
  };
  struct Circuit {
    std::uint64_t key_bytes = 0, partition_bytes = 0;
    std::uint64_t loading_since_ns = 0, load_ns = 0;
    bool keep_resident = false, was_loaded = false;
    Mean synthesize, device, verify;
  };

  void add_settings(const shm::Snapshot& snapshot);
  void add_keys(const shm::Snapshot& snapshot);
  void add_partitions(const shm::Snapshot& snapshot);

  std::map<std::string, std::string> settings_;
  std::size_t devices_ = 1;
  std::map<std::string, Circuit> circuits_;
  std::map<std::uint64_t, shm::JobRecord> jobs_;  // by id, so as they came
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t> measured_;  // partitions, by end
};

}  // namespace vitrine::tools
