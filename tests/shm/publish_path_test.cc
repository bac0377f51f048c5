// SPDX-License-Identifier: Apache-2.0
// The publish path as the kernel and the allocator see it: not at all.
#include <sys/syscall.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <memory>

#include "shm/segment_writer.h"
#include "tests/shm/allocation_count.h"
#include "tests/shm/system_call_count.h"

namespace vitrine::shm {
namespace {

SegmentWriter private_writer() {
  SegmentOptions options;
  options.instance = "test";
  return SegmentWriter::in_private_memory(options);
}

// A change as the engine makes them: several rows, some twice, and an event.
void change_state(SegmentWriter& writer, std::uint32_t number) {
  Transaction transaction = writer.begin();
  transaction.recycle<PartitionRecord>(number % 4096).stage = PartitionStage::kPending;
  transaction.edit<JobRecord>(number % 512).state = JobState::kRunning;
  transaction.edit<JobRecord>(number % 512).failure.assign("longer than any short string");
  transaction.clear<WorkerRecord>(number % 64);
  transaction.edit<MemoryRecord>().reserved_bytes += 1;
  Event event;
  event.type = EventType::kSubmit;
  transaction.append(event);
}

}  // namespace

TEST_CASE("a transaction allocates nothing") {
  SegmentWriter writer = private_writer();
  const std::size_t before = allocations;
  for (std::uint32_t i = 0; i < 10'000; ++i) change_state(writer, i);
  writer.beat();
  const std::size_t after = allocations;
  CHECK(after - before == 0);

  const std::size_t before_one = allocations;
  const auto counted = std::make_unique<int>(1);
  CHECK(allocations - before_one >= 1);  // the counter does count
}

TEST_CASE("a transaction makes no system call") {
  SegmentWriter writer = private_writer();
  CHECK(count_system_calls([&writer] {
          for (std::uint32_t i = 0; i < 10'000; ++i) change_state(writer, i);
          writer.beat();
        }) == 0);
  CHECK(count_system_calls([] { ::syscall(SYS_getuid); }) == 1);  // the counter does count
}

}  // namespace vitrine::shm
