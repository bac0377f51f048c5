// SPDX-License-Identifier: Apache-2.0
// What is known of an engine that ended: the text and the JSON of `vitrine post-mortem`.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "tools/black_box.h"
#include "tools/view.h"

namespace vitrine::tools {

// Everything that had not ended, how long it had been so, and what happened last. Ages are those
// at the last heartbeat.
std::string post_mortem_text(const View& view, const LastEvents& last,
                             const std::vector<shm::HistorySample>& history);

// The snapshot, with `post_mortem` (when and how it ended), `events` and `history`.
boost::json::object post_mortem_json(const shm::Observation& observation, const LastEvents& last,
                                     const std::vector<shm::HistorySample>& history);

}  // namespace vitrine::tools
