// SPDX-License-Identifier: Apache-2.0
#include "tools/partition_bar.h"

#include <array>

namespace vitrine::tools {
namespace {

// In the order of shm::PartitionStage.
constexpr std::array<StageMark, 10> kMarks = {{{"?", '?', Tone::kFaint},
                                               {"□", '.', Tone::kFaint},
                                               {"◱", 'w', Tone::kWarning},
                                               {"◧", 's', Tone::kWarning},
                                               {"▥", 'q', Tone::kQueued},
                                               {"▣", 'g', Tone::kActive},
                                               {"▩", 'f', Tone::kActive},
                                               {"■", '#', Tone::kGood},
                                               {"×", 'x', Tone::kBad},
                                               {"–", '-', Tone::kFaint}}};

std::size_t number_of(shm::PartitionStage stage) {
  const auto number = static_cast<std::size_t>(stage);
  return number < kMarks.size() ? number : 0;
}

void add_mark(StyledText& line, const StageMark& mark, Charset charset) {
  line.add(charset == Charset::kUtf8 ? mark.utf8 : std::string_view(&mark.ascii, 1), mark.tone);
}

}  // namespace

const StageMark& mark_of(shm::PartitionStage stage) { return kMarks[number_of(stage)]; }

Cell partition_bar(std::span<const shm::PartitionRecord> partitions, std::size_t per_line,
                   Charset charset) {
  Cell lines;
  for (std::size_t i = 0; i < partitions.size(); ++i) {
    if (i % per_line == 0) lines.emplace_back();
    add_mark(lines.back(), mark_of(partitions[i].stage), charset);
  }
  return lines;
}

StyledText stage_legend(std::span<const shm::PartitionRecord> partitions, Charset charset) {
  std::array<bool, kMarks.size()> is_used{};
  for (const shm::PartitionRecord& partition : partitions) {
    is_used[number_of(partition.stage)] = true;
  }
  StyledText legend;
  for (std::size_t i = 0; i < kMarks.size(); ++i) {
    if (!is_used[i]) continue;
    if (!legend.empty()) legend.add("  ");
    add_mark(legend, kMarks[i], charset);
    legend.add(" ").add(shm::word(static_cast<shm::PartitionStage>(i)), Tone::kFaint);
  }
  return legend;
}

}  // namespace vitrine::tools
