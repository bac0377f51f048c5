// SPDX-License-Identifier: Apache-2.0
#include "tools/duration_text.h"
#include "tools/text_table.h"
#include "tools/view.h"

namespace vitrine::tools {
namespace {

// A number that should be zero.
Cell fault_count(std::uint64_t count) {
  return cell(std::to_string(count), count == 0 ? Tone::kFaint : Tone::kBad);
}

Cell state_cell(const View& view, const shm::WorkerRecord& worker) {
  if (worker.state == shm::WorkerState::kProving) {
    return cell(view.stage(worker), Tone::kActive);
  }
  StyledText text(shm::word(worker.state));
  if (worker.idle_reason != shm::IdleReason::kNone) {
    text.add(": ").add(shm::word(worker.idle_reason), Tone::kFaint);
  }
  return cell(text);
}

}  // namespace

std::string devices_section(const View& view) {
  TextTable table({{"DEVICE", Align::kRight},
                   {"STATE"},
                   {"KIND"},
                   {"NAME"},
                   {"THREADS", Align::kRight},
                   {"PROOFS", Align::kRight},
                   {"INVALID", Align::kRight},
                   {"FAILURES", Align::kRight}});
  for (const shm::DeviceRecord& device : view.snapshot().rows<shm::DeviceRecord>()) {
    const bool is_up = device.state == shm::DeviceState::kUp;
    table.add_row({cell(std::to_string(device.identity.row)),
                   cell(shm::word(device.state), is_up ? Tone::kGood : Tone::kBad),
                   cell(shm::word(device.kind)), cell(view.text(device.name.view())),
                   cell(std::to_string(device.threads)), cell(std::to_string(device.proofs)),
                   fault_count(device.proofs_invalid), fault_count(device.failures)});
  }
  return table.empty() ? "" : table.text(view.style(), 0);
}

std::string workers_section(const View& view) {
  TextTable table({{"WORKER", Align::kRight},
                   {"DEVICE", Align::kRight},
                   {"DOING"},
                   {"FOR", Align::kRight},
                   {"JOB", Align::kRight},
                   {"PARTITION", Align::kRight},
                   {"DONE", Align::kRight},
                   {"FAILED", Align::kRight},
                   {"RESTARTS", Align::kRight},
                   {"WORKED", Align::kRight}});
  for (const shm::WorkerRecord& worker : view.snapshot().rows<shm::WorkerRecord>()) {
    const std::string job = worker.job.value == 0 ? "-" : std::to_string(worker.job.value);
    table.add_row({cell(std::to_string(worker.identity.row)), cell(view.number(worker.device)),
                   state_cell(view, worker), cell(view.age(worker.since)), cell(job),
                   cell(view.number(worker.partition)),
                   cell(std::to_string(worker.partitions_done)),
                   fault_count(worker.partitions_failed), fault_count(worker.restarts),
                   cell(duration_text(worker.busy_ns))});
  }
  return table.empty() ? "" : table.text(view.style(), 0);
}

}  // namespace vitrine::tools
