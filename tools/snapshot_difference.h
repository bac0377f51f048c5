// SPDX-License-Identifier: Apache-2.0
// What changed between two moments, from the catalogue: counters as growth and rate, everything
// else as before and after, rows that came and went.
//
// Why   a row is the same item only within one incarnation and generation; otherwise one item left
//       and another came, and no difference between the two means anything.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "shm/segment_reader.h"
#include "shm/snapshot.h"
#include "tools/styled_text.h"

namespace vitrine::tools {

// One of the two sides.
struct DifferenceSide {
  std::string source;  // the file, and which frame of it
  shm::SegmentIdentity identity;
  shm::Snapshot snapshot;
};

struct FieldChange {
  std::string name;
  std::string before;  // as JSON
  std::string after;
  bool is_counter = false;
  std::int64_t growth = 0;  // of a counter or a gauge
  bool is_number = false;
};

struct RowChange {
  enum class Kind { kAdded, kRemoved, kChanged };
  Kind kind = Kind::kChanged;
  std::string table;
  std::uint32_t row = 0;
  std::string label;  // the item's own name, when it has one
  std::vector<FieldChange> fields;
};

struct SnapshotDifference {
  bool is_same_incarnation = false;
  double seconds = 0;        // from the one to the other; below zero when it is the earlier
  std::uint64_t events = 0;  // appended between the two; of one incarnation
  std::vector<RowChange> rows;
};

SnapshotDifference difference_of(const DifferenceSide& before, const DifferenceSide& after);

std::string difference_text(const DifferenceSide& before, const DifferenceSide& after,
                            const SnapshotDifference& difference, Charset charset);
boost::json::object difference_json(const DifferenceSide& before, const DifferenceSide& after,
                                    const SnapshotDifference& difference);

}  // namespace vitrine::tools
