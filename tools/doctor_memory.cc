// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <sstream>

#include "tools/bounded_file.h"
#include "tools/doctor_checks.h"
#include "tools/size_text.h"

namespace vitrine::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kCgroupBytesMax = 65'536;

// Zero for "max", which is no limit, and for what is no number.
std::uint64_t limit_in(const fs::path& group) {
  const std::string text = read_bounded(group / "memory.max", 64).value_or("");
  std::uint64_t limit = 0;
  std::from_chars(text.data(), text.data() + text.size(), limit);
  return limit;
}

}  // namespace

std::uint64_t memory_limit_bytes(const std::string& cgroup_text, const fs::path& cgroup_root) {
  constexpr std::string_view kUnified = "0::/";
  std::istringstream lines(cgroup_text);
  std::string line;
  while (std::getline(lines, line) && !line.starts_with(kUnified)) {
  }
  if (!line.starts_with(kUnified)) return 0;
  std::uint64_t least = 0;
  fs::path group = cgroup_root;
  const auto look = [&] {
    const std::uint64_t limit = limit_in(group);
    if (limit != 0 && (least == 0 || limit < least)) least = limit;
  };
  look();
  for (const fs::path& part : fs::path(line.substr(kUnified.size()))) {
    if (part == "..") return least;  // a group outside of our view
    group /= part;
    look();
  }
  return least;
}

MemoryFacts memory_facts(const shm::Observation& observation) {
  MemoryFacts memory;
  memory.budget_bytes = observation.snapshot->memory().budget_bytes;
  memory.segment_bytes = observation.identity.total_bytes;
  if (!shares_pid_namespace(observation.identity)) return memory;
  const fs::path process = fs::path("/proc") / std::to_string(observation.identity.pid);
  memory.limit_bytes = memory_limit_bytes(
      read_bounded(process / "cgroup", kCgroupBytesMax).value_or(""), "/sys/fs/cgroup");
  return memory;
}

// The pages of a tmpfs count as memory of the group that touched them first.
Findings check_memory(const std::string& about, const MemoryFacts& memory) {
  const std::uint64_t left =
      memory.limit_bytes - std::min(memory.limit_bytes, memory.segment_bytes);
  if (memory.limit_bytes == 0 || memory.budget_bytes <= left) return {};
  return {{Severity::kWarning, about,
           "may reserve " + size_text(memory.budget_bytes) + " beside a segment of " +
               size_text(memory.segment_bytes) + ", but its control group allows " +
               size_text(memory.limit_bytes) + ": the kernel would kill it",
           "restart it with --memory-budget auto, or raise memory.max"}};
}

}  // namespace vitrine::tools
