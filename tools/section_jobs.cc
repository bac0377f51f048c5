// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tools/duration_text.h"
#include "tools/job_failure_text.h"
#include "tools/partition_bar.h"
#include "tools/size_text.h"
#include "tools/verdict_tone.h"
#include "tools/view.h"

namespace vitrine::tools {
namespace {

constexpr std::size_t kMarksPerLine = 32;

// Unfinished jobs by id, then finished ones, newest first.
bool comes_before(const shm::JobRecord& a, const shm::JobRecord& b) {
  if (shm::is_final(a.state) != shm::is_final(b.state)) return shm::is_final(b.state);
  if (!shm::is_final(a.state)) return a.job.value < b.job.value;
  return std::pair(a.finished.ns, a.job.value) > std::pair(b.finished.ns, b.job.value);
}

std::string wait_text(const View& view, const shm::JobRecord& job) {
  std::string text = "waits for " + std::string(shm::word(job.wait_reason));
  if (job.wait_since.is_set()) text += " " + view.age(job.wait_since);
  if (job.wait_needs_bytes > 0) {
    text += ", needs " + size_text(job.wait_needs_bytes) + ", " +
            size_text(job.wait_available_bytes) + " free then";
  }
  return text;
}

void add_remark(StyledText& note, std::string_view text, Tone tone = Tone::kPlain) {
  if (!note.empty()) note.add("; ");
  note.add(text, tone);
}

void add_deadline(StyledText& note, const View& view, const shm::JobRecord& job) {
  if (!job.deadline.is_set()) return;
  if (shm::is_final(job.state)) {
    if (job.finished.ns <= job.deadline.ns) return;
    return add_remark(note, "deadline missed by " + view.span(job.deadline, job.finished),
                      Tone::kBad);
  }
  const std::int64_t past_ns = view.age_ns(job.deadline);
  if (past_ns > 0) {
    return add_remark(note, "deadline missed by " + view.age(job.deadline), Tone::kBad);
  }
  add_remark(note, "deadline in " + duration_text(static_cast<std::uint64_t>(-past_ns)));
  if (!job.expected_end.is_set()) return;
  if (job.expected_end.ns <= job.deadline.ns) {
    note.add(", " + view.span(job.expected_end, job.deadline) + " to spare");
  } else {
    note.add(", expected to be missed by " + view.span(job.deadline, job.expected_end),
             Tone::kWarning);
  }
}

void add_expected_end(StyledText& note, const View& view, const shm::JobRecord& job) {
  if (!job.expected_end.is_set() || shm::is_final(job.state)) return;
  const std::int64_t past_ns = view.age_ns(job.expected_end);
  const std::uint64_t left_ns = past_ns < 0 ? static_cast<std::uint64_t>(-past_ns) : 0;
  add_remark(note, "ends in about " + duration_text(left_ns));
}

StyledText note_of(const View& view, const shm::JobRecord& job) {
  StyledText note;
  if (!job.request.view().empty()) note.add("request " + view.text(job.request.view()));
  if (const std::string failure = job_failure_text(view, job); !failure.empty()) {
    const bool is_wanted = job.failure_class == shm::FailureClass::kCancelled;
    add_remark(note, failure, is_wanted ? Tone::kFaint : Tone::kBad);
  } else if (!shm::is_final(job.state) && job.wait_reason != shm::WaitReason::kNone) {
    add_remark(note, wait_text(view, job), Tone::kWarning);
  }
  add_expected_end(note, view, job);
  add_deadline(note, view, job);
  return note;
}

std::vector<Cell> row_of(const View& view, const shm::JobRecord& job) {
  const auto partitions = view.snapshot().partitions_of(job.job);
  const std::string done =
      std::to_string(job.partitions_done) + "/" + std::to_string(job.partitions);
  return {cell(std::to_string(job.job.value)),
          cell(shm::word(job.state), tone_of(job.state)),
          cell(view.text(job.circuit.view())),
          cell(shm::word(job.priority)),
          cell(view.span(job.submitted, job.finished)),
          cell(done),
          partition_bar(partitions, kMarksPerLine, view.style().charset),
          cell(note_of(view, job))};
}

}  // namespace

std::string jobs_section(const View& view, std::size_t limit) {
  std::vector<shm::JobRecord> jobs = view.snapshot().rows<shm::JobRecord>();
  std::sort(jobs.begin(), jobs.end(), comes_before);
  TextTable table({{"JOB", Align::kRight},
                   {"STATE"},
                   {"CIRCUIT"},
                   {"PRIORITY"},
                   {"TIME", Align::kRight},
                   {"DONE", Align::kRight},
                   {"PARTITIONS"},
                   {"NOTE"}});
  const std::size_t shown = std::min(limit, jobs.size());
  for (std::size_t i = 0; i < shown; ++i) table.add_row(row_of(view, jobs[i]));
  if (table.empty()) return "";
  std::string out = table.text(view.style(), 0);
  if (shown < jobs.size()) {
    out += "and " + std::to_string(jobs.size() - shown) + " more; 'vitrine jobs' lists all\n";
  }
  const auto& partitions = view.snapshot().rows<shm::PartitionRecord>();
  const StyledText legend = stage_legend(partitions, view.style().charset);
  return legend.empty() ? out : out + legend.painted(view.style()) + "\n";
}

}  // namespace vitrine::tools
