// SPDX-License-Identifier: Apache-2.0
// What a job or a partition waits for, who holds that, since when, and what the holders in turn
// wait for: the tree of `vitrine why`.
//
// Why   "it is slow" has one answer at the end of a chain: a full budget is held by a partition
// that
//       waits for a worker that is stuck. A pure function of a view, so tests draw the chains.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/error.h"
#include "tools/view.h"

namespace vitrine::tools {

struct WaitLink {
  std::string item;  // "job 8", "partition 2 of job 7", "worker 0", "memory"
  std::string state;
  std::optional<std::int64_t> age_ns;  // how long it has been so
  std::vector<WaitLink> because;       // what holds it up
};

// JOB or JOB/PARTITION, decimal.
struct WaitingItem {
  std::uint64_t job = 0;
  std::optional<std::uint32_t> partition;
};
Result<WaitingItem> parse_waiting_item(std::string_view text);

// Nothing when the snapshot does not have the item.
std::optional<WaitLink> wait_chain(const View& view, const WaitingItem& item);

std::string wait_chain_text(const WaitLink& chain);
boost::json::object wait_chain_json(const WaitLink& chain);

}  // namespace vitrine::tools
