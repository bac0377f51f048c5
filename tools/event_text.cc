// SPDX-License-Identifier: Apache-2.0
#include "tools/event_text.h"

#include <algorithm>

#include "shm/time_text.h"
#include "tools/size_text.h"

namespace vitrine::tools {
namespace {

void add_index(std::string& line, std::string_view name, shm::Index index) {
  if (!index.is_set()) return;
  line.append("  ").append(name).append(" ").append(std::to_string(index.number()));
}

template <class Enum>
std::string word_of(std::uint64_t argument) {
  const auto value = static_cast<std::uint32_t>(argument);
  return std::string(shm::word_of(value, shm::WordList<Enum>::kWords));
}

// What `argument` counts depends on the type of the event.
std::string argument_text(const shm::Event& event) {
  switch (event.type) {
    case shm::EventType::kSubmit:
    case shm::EventType::kRefuse:
      return "partitions " + std::to_string(event.argument);
    case shm::EventType::kWait:
      return "for " + word_of<shm::WaitReason>(event.argument);
    case shm::EventType::kFail:
    case shm::EventType::kCancel:
    case shm::EventType::kPartitionFail:
      return word_of<shm::FailureClass>(event.argument);
    case shm::EventType::kSynthStart:
    case shm::EventType::kSynthEnd:
    case shm::EventType::kLoad:
    case shm::EventType::kLoaded:
    case shm::EventType::kEvict:
      return size_text(event.argument);
    case shm::EventType::kStop:
      return "exit code " + std::to_string(event.argument);
    default:
      return "(" + std::to_string(event.argument) + ")";
  }
}

}  // namespace

std::string event_text(const shm::Event& event, const shm::Snapshot& clock) {
  constexpr std::size_t kTypeColumns = 16;
  std::string line = event.time.is_set() ? shm::rfc3339_ms(clock.unix_ns_of(event.time)) : "-";
  line += "  ";
  std::string type(shm::word(event.type));
  if (event.job.value != 0 || event.argument != 0)
    type.resize(std::max(type.size(), kTypeColumns), ' ');
  line += type;
  if (event.job.value != 0) line += "  job " + std::to_string(event.job.value);
  add_index(line, "partition", event.partition);
  if (event.attempt > 1) line += "  attempt " + std::to_string(event.attempt);
  add_index(line, "worker", event.worker);
  add_index(line, "device", event.device);
  if (event.argument != 0) line += "  " + argument_text(event);
  return line;
}

}  // namespace vitrine::tools
