// SPDX-License-Identifier: Apache-2.0
// One mark for each partition of a job, by stage: how far a job is, at a glance.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "shm/records.h"
#include "tools/text_table.h"

namespace vitrine::tools {

struct StageMark {
  std::string_view utf8;
  char ascii;
  Tone tone;
};

const StageMark& mark_of(shm::PartitionStage stage);

// The marks in the order given, `per_line` of them on each line.
Cell partition_bar(std::span<const shm::PartitionRecord> partitions, std::size_t per_line,
                   Charset charset);

// What the marks of these partitions mean, for the foot of a list.
StyledText stage_legend(std::span<const shm::PartitionRecord> partitions, Charset charset);

}  // namespace vitrine::tools
