// SPDX-License-Identifier: Apache-2.0
// Every engine of this machine, one line each: what `vitrine ls` shows.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "shm/attachment.h"
#include "shm/discovery.h"
#include "tools/error.h"
#include "tools/styled_text.h"
#include "tools/text_table.h"

namespace vitrine::tools {

struct ListedInstance {
  shm::SegmentName name;
  bool is_replaced = false;  // the black box of an engine whose instance has a newer engine
  shm::Observation observation;

  // As the segment says; as its name says when it cannot be read, empty when that says nothing.
  const std::string& instance() const {
    return observation.snapshot ? observation.identity.instance : name.instance;
  }
};

// Looks at each of the segments once; what shm::list_segments found, or one that was named. One
// that cannot be read is listed all the same, one whose name has gone is left out.
std::vector<ListedInstance> list_instances(const std::vector<shm::SegmentName>& names,
                                           const shm::AttachOptions& options = {});

// A row that is wider than `columns` is cut, and the last line says where all of it is.
std::string instances_text(const std::vector<ListedInstance>& instances, const TextStyle& style,
                           std::size_t columns = TextTable::kUnbounded);
boost::json::object instances_json(const std::vector<ListedInstance>& instances);

// The worst (highest) of their exit codes; what was replaced does not count.
ExitCode worst_exit_code(const std::vector<ListedInstance>& instances);

}  // namespace vitrine::tools
