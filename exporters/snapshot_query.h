// SPDX-License-Identifier: Apache-2.0
// The query of `/api/v1/snapshot`: which tables, and which jobs with their partitions.
//
// Threads  pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "exporters/error.h"
#include "shm/attachment.h"

namespace vitrine::exporters {

struct SnapshotQuery {
  std::vector<std::string> sections;  // table names, sorted; empty: all
  std::string kind;                   // proof kind of jobs; empty: all
  std::string state;                  // state of jobs; empty: all

  // The same for all queries that ask for the same.
  std::string canonical_text() const;
  bool chooses_jobs() const { return !kind.empty() || !state.empty(); }
};

// `text` is what follows the `?`, percent-encoded. kUsage names the parameter or value that is not
// known: what a client asked for is never silently left out.
[[nodiscard]] Result<SnapshotQuery> parse_snapshot_query(std::string_view text);

// Leaves in `snapshot` only the jobs that the query chooses, and their partitions.
void keep_chosen_jobs(shm::Snapshot& snapshot, const SnapshotQuery& query);

}  // namespace vitrine::exporters
