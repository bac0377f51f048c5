// SPDX-License-Identifier: Apache-2.0
#include "tools/job_progress.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "shm/clock.h"
#include "tools/output.h"
#include "tools/partition_bar.h"
#include "tools/terminal.h"
#include "tools/verdict_tone.h"

namespace vitrine::tools {
namespace {

constexpr auto kLookEvery = std::chrono::milliseconds(50);

StyledText stage_counts(const View& view, const shm::JobRecord& job) {
  constexpr std::size_t kStages = std::size(shm::WordList<shm::PartitionStage>::kWords);
  std::array<std::size_t, kStages> counts{};
  for (const shm::PartitionRecord& partition : view.snapshot().partitions_of(job.job)) {
    const auto stage = static_cast<std::size_t>(partition.stage);
    ++counts[stage < kStages ? stage : 0];
  }
  StyledText text;
  for (std::size_t stage = 0; stage < kStages; ++stage) {
    if (counts[stage] == 0) continue;
    const auto named = static_cast<shm::PartitionStage>(stage);
    if (!text.empty()) text.add("  ");
    text.add(shm::word(named), mark_of(named).tone).add(" " + std::to_string(counts[stage]));
  }
  return text;
}

const shm::JobRecord* find_job(const shm::Snapshot& snapshot, shm::Id id) {
  const auto& jobs = snapshot.rows<shm::JobRecord>();
  const auto found =
      std::find_if(jobs.begin(), jobs.end(), [&](const auto& job) { return job.job == id; });
  return found == jobs.end() ? nullptr : &*found;
}

std::string done_text(const shm::JobRecord& job) {
  return std::to_string(job.partitions_done) + "/" + std::to_string(job.partitions) + " done";
}

// Draws one look; the terminal's line is left open until the last one.
class ProgressScreen {
 public:
  explicit ProgressScreen(int descriptor)
      : output_(descriptor), style_(text_style_of(descriptor)), redraws_(can_redraw(descriptor)) {}
  ~ProgressScreen() {
    if (is_line_open_) static_cast<void>(output_.write("\n"));
  }

  // Progress is a courtesy: when it cannot be written the job is waited for all the same.
  void show(const shm::Observation& observation, const shm::JobRecord& job) {
    const View view(observation, style_);
    if (!redraws_) {
      static_cast<void>(output_.write(changes_.lines(view, job)));
      return;
    }
    const std::size_t columns = terminal_columns(output_.descriptor()) - 1;
    static_cast<void>(output_.write("\r\x1b[K" + progress_line(view, job, columns)));
    is_line_open_ = true;
  }

 private:
  Output output_;
  TextStyle style_;
  bool redraws_;
  bool is_line_open_ = false;
  StageChanges changes_;
};

}  // namespace

std::string progress_line(const View& view, const shm::JobRecord& job, std::size_t columns) {
  StyledText line("job " + std::to_string(job.job.value) + "  ");
  line.add(shm::word(job.state), tone_of(job.state));
  line.add("  " + view.span(job.submitted, job.finished) + "  " + done_text(job) + "  ");
  const auto partitions = view.snapshot().partitions_of(job.job);
  if (line.width() + partitions.size() <= columns) {
    for (const StyledText& marks :
         partition_bar(partitions, partitions.size(), view.style().charset)) {
      line.append(marks);
    }
    return line.painted(view.style());
  }
  const StyledText counts = stage_counts(view, job);
  if (line.width() + counts.width() <= columns) line.append(counts);
  return line.painted(view.style());
}

std::string StageChanges::lines(const View& view, const shm::JobRecord& job) {
  std::string out;
  for (const shm::PartitionRecord& partition : view.snapshot().partitions_of(job.job)) {
    const auto [told, is_new] = told_.try_emplace(partition.partition, partition.stage);
    if (!is_new && told->second == partition.stage) continue;
    told->second = partition.stage;
    if (is_new && partition.stage == shm::PartitionStage::kPending) continue;
    out += "job " + std::to_string(job.job.value) + "  " + done_text(job) + "  partition " +
           std::to_string(partition.partition) + ": " + view.stage(partition) + "\n";
  }
  return out;
}

void show_progress(const shm::Target& target, shm::Id job, int descriptor,
                   std::optional<std::uint64_t> end_ns) {
  shm::Attachment attachment(target);
  ProgressScreen screen(descriptor);
  while (!end_ns || shm::monotonic_ns() < *end_ns) {
    const shm::Observation& observation = attachment.observe();
    if (!observation.snapshot) return;
    const shm::JobRecord* seen = find_job(*observation.snapshot, job);
    if (seen == nullptr) return;
    screen.show(observation, *seen);
    if (shm::is_final(seen->state) || !shm::is_alive(observation.verdict.word)) return;
    std::this_thread::sleep_for(kLookEvery);
  }
}

}  // namespace vitrine::tools
