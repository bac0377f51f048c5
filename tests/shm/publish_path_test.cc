// SPDX-License-Identifier: Apache-2.0
// The publish path as the kernel and the allocator see it: not at all.
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <new>

#include "shm/segment_writer.h"

namespace {

std::size_t allocations = 0;

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace vitrine::shm {
namespace {

constexpr long kMarker = SYS_getppid;  // a system call that the publish path would never make

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

// The number of the system call that `child` has stopped at the entry of.
long entered_call(pid_t child) {
  __ptrace_syscall_info info{};
  ::ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof(info), &info);
  return static_cast<long>(info.entry.nr);
}

// System calls that a child makes in `body`, as its tracer counts them between two markers.
template <class Body>
long count_system_calls(Body body) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::raise(SIGSTOP);
    ::syscall(kMarker);
    body();
    ::syscall(kMarker);
    ::_exit(0);
  }
  int status = 0;
  int markers = 0;
  long calls = 0;
  bool is_entry = true;
  ::waitpid(child, &status, 0);
  ::ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  while (::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr) == 0 &&
         ::waitpid(child, &status, 0) == child && !WIFEXITED(status)) {
    if (!WIFSTOPPED(status) || WSTOPSIG(status) != (SIGTRAP | 0x80)) continue;
    if (is_entry) {
      const bool is_marker = entered_call(child) == kMarker;
      markers += is_marker;
      calls += !is_marker && markers == 1;
    }
    is_entry = !is_entry;
  }
  REQUIRE(markers == 2);
  return calls;
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
