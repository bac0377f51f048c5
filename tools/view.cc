// SPDX-License-Identifier: Apache-2.0
#include "tools/view.h"

#include <algorithm>

#include "tools/duration_text.h"

namespace vitrine::tools {

std::int64_t View::age_ns(shm::Instant instant) const {
  const std::int64_t until_now_ns = snapshot().age_ns(instant);
  if (!engine_is_gone()) return until_now_ns;
  return until_now_ns - static_cast<std::int64_t>(snapshot().last_sign_age_ns());
}

std::string View::age(shm::Instant instant) const {
  if (!instant.is_set()) return "-";
  return duration_text(static_cast<std::uint64_t>(std::max<std::int64_t>(age_ns(instant), 0)));
}

std::string View::span(shm::Instant begin, shm::Instant end) const {
  if (!begin.is_set() || !end.is_set()) return age(begin);
  return duration_text(end.ns > begin.ns ? end.ns - begin.ns : 0);
}

std::string View::text(std::string_view text) const {
  return text.empty() ? "-" : printable(text, style_.charset);
}

std::string View::stage(const shm::PartitionRecord& partition) const {
  const std::string_view own = partition.stage_name.view();
  return own.empty() ? std::string(shm::word(partition.stage)) : text(own);
}

std::string View::stage(const shm::WorkerRecord& worker) const {
  for (const shm::PartitionRecord& partition : snapshot().rows<shm::PartitionRecord>()) {
    const bool is_in_hand = worker.partition_row == shm::Index::of(partition.identity.row) &&
                            worker.job == partition.job;
    if (is_in_hand && !partition.stage_name.view().empty()) return stage(partition);
  }
  return std::string(shm::word(worker.stage));
}

std::string View::number(shm::Index index) const {
  return index.is_set() ? std::to_string(index.number()) : "-";
}

}  // namespace vitrine::tools
