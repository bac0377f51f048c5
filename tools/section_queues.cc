// SPDX-License-Identifier: Apache-2.0
#include "tools/amount_bar.h"
#include "tools/text_table.h"
#include "tools/view.h"

namespace vitrine::tools {

std::string queues_section(const View& view) {
  constexpr std::size_t kBarColumns = 10;
  TextTable table({{"QUEUE"},
                   {"WAITING", Align::kRight},
                   {"ROOM FOR", Align::kRight},
                   {""},
                   {"MOST", Align::kRight},
                   {"OLDEST", Align::kRight}});
  for (const shm::QueueRecord& queue : view.snapshot().rows<shm::QueueRecord>()) {
    if (queue.priority != shm::Priority::kUnknown) continue;  // counted in the queue's own row
    table.add_row({cell(shm::word(queue.name)), cell(std::to_string(queue.depth)),
                   cell(queue.capacity == 0 ? "-" : std::to_string(queue.capacity)),
                   cell(amount_bar(queue.depth, queue.capacity, kBarColumns, view.style().charset)),
                   cell(std::to_string(queue.depth_peak)), cell(view.age(queue.oldest))});
  }
  return table.empty() ? "" : table.text(view.style(), 0);
}

}  // namespace vitrine::tools
