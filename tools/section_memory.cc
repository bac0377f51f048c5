// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tools/amount_bar.h"
#include "tools/size_text.h"
#include "tools/text_table.h"
#include "tools/view.h"

namespace vitrine::tools {
namespace {

constexpr std::size_t kBarColumns = 30;

void add_consumer(TextTable& table, const View& view, std::string_view name, std::uint64_t bytes) {
  const std::uint64_t budget_bytes = view.snapshot().memory().budget_bytes;
  table.add_row({cell(name), cell(size_text(bytes)),
                 cell(amount_bar(bytes, budget_bytes, kBarColumns, view.style().charset))});
}

Cell state_cell(const View& view, const shm::AllocationRecord& allocation) {
  StyledText text(shm::word(allocation.state));
  if (allocation.state == shm::AllocationState::kLoading && allocation.total_bytes > 0) {
    const double share =
        static_cast<double>(allocation.loaded_bytes) / static_cast<double>(allocation.total_bytes);
    text.add(" " + std::to_string(static_cast<int>(std::min(share, 1.0) * 100)) + "%");
  }
  if (!allocation.cause.view().empty()) {
    text.add(": ").add(view.text(allocation.cause.view()), Tone::kBad);
  }
  return cell(text);
}

}  // namespace

std::string memory_section(const View& view) {
  if (view.snapshot().rows<shm::MemoryRecord>().empty()) return "";
  const shm::MemoryRecord& memory = view.snapshot().memory();
  std::string out = "MEMORY  " + size_text(memory.reserved_bytes) + " of " +
                    size_text(memory.budget_bytes) + " reserved, at most " +
                    size_text(memory.reserved_peak_bytes) + " so far; process resident " +
                    size_text(memory.resident_bytes) + "\n";
  TextTable table({{"CONSUMER"}, {"RESERVED", Align::kRight}, {"OF THE BUDGET"}});
  add_consumer(table, view, "srs", memory.srs_bytes);
  add_consumer(table, view, "pce", memory.pce_bytes);
  add_consumer(table, view, "working", memory.working_bytes);
  const std::uint64_t reserved = std::min(memory.reserved_bytes, memory.budget_bytes);
  add_consumer(table, view, "free", memory.budget_bytes - reserved);
  out += table.text(view.style(), 0);
  if (memory.waiters > 0) {
    out +=
        std::to_string(memory.waiters) + " waiting for " + size_text(memory.waiting_bytes) + "\n";
  }
  if (memory.refused_impossible > 0) {
    out += std::to_string(memory.refused_impossible) + " refused: larger than the budget\n";
  }
  if (memory.accounting_errors > 0) {
    out += std::to_string(memory.accounting_errors) + " refunds did not match a reservation\n";
  }
  return out;
}

std::string allocations_section(const View& view) {
  TextTable table({{"CIRCUIT"},
                   {"HOLDS"},
                   {"BYTES", Align::kRight},
                   {"USERS", Align::kRight},
                   {"LAST USED", Align::kRight},
                   {"HITS", Align::kRight},
                   {"LOADS", Align::kRight},
                   {"EVICTED", Align::kRight},
                   {"STATE"}});
  for (const shm::AllocationRecord& allocation : view.snapshot().rows<shm::AllocationRecord>()) {
    table.add_row({cell(view.text(allocation.circuit.view())), cell(shm::word(allocation.kind)),
                   cell(size_text(allocation.reserved_bytes)),
                   cell(std::to_string(allocation.references)),
                   cell(view.age(allocation.last_used)), cell(std::to_string(allocation.hits)),
                   cell(std::to_string(allocation.loads)),
                   cell(std::to_string(allocation.evictions)), state_cell(view, allocation)});
  }
  return table.empty() ? "" : table.text(view.style(), 0);
}

}  // namespace vitrine::tools
