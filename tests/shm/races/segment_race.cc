// SPDX-License-Identifier: Apache-2.0
// Writer, heart and readers of one segment in one process under ThreadSanitizer.
//
// One reader maps the segment as every tool does. To the sanitizer two mappings are two memories,
// so another one copies from the writer's own, and reads a plain canary for each stamp it finds:
// without the protocol's orders that is a race. Exits 0 when all was well, 66 when the sanitizer
// found a race, 1 when a reader saw what it must not, 3 when writer and readers never met.
#include <sys/stat.h>

#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "shm/snapshot_copy.h"
#include "tests/scratch_folder.h"
#include "tests/shm/torture_writer.h"

extern "C" const char* __tsan_default_options() { return "halt_on_error=1:exitcode=66"; }

namespace vitrine::shm::testing {
namespace {

constexpr std::uint64_t kTransactionsMax = 400'000;
constexpr std::uint64_t kEnough = 100;  // snapshots of each reader during which the commit moved
constexpr std::uint32_t kPeriod = 64;

struct Tally {
  std::atomic<std::uint64_t> overlapped{0};
  std::uint64_t snapshots = 0;
  std::uint64_t consistent = 0;
  std::string fault;

  void note(const std::string& found) {
    if (fault.empty()) fault = found;
  }
  void count(const Snapshot& snapshot, bool has_moved) {
    ++snapshots;
    consistent += snapshot.consistent;
    if (has_moved) overlapped.fetch_add(1, std::memory_order_relaxed);
  }
};

// Canaries are plain words; index is the stamp.
struct Stage {
  std::filesystem::path path;
  PlannedState plan{torture_capacity(), kPeriod};
  std::vector<std::uint64_t> canaries = std::vector<std::uint64_t>(kTransactionsMax + 1);
  std::atomic<bool> is_over{false};  // relaxed, so that it orders nothing

  bool is_running() const { return !is_over.load(std::memory_order_relaxed); }
};

// The first byte of the only writable mapping of the file; null when there is none.
const std::byte* writable_mapping_of(const std::filesystem::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return nullptr;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0;
    char rights[5] = {};
    std::uintmax_t inode = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%*x %4s %*s %*s %ju", &begin, rights, &inode) ==
            3 &&
        inode == found.st_ino && rights[1] == 'w') {
      return reinterpret_cast<const std::byte*>(begin);
    }
  }
  return nullptr;
}

__attribute__((noinline)) std::uint64_t read_canary(const Stage& stage, std::uint64_t stamp) {
  return stage.canaries[stamp];
}

void read_as_a_tool(const Stage& stage, Tally& tally) {
  auto reader = SegmentReader::attach(stage.path);
  if (!reader) return tally.note(reader.error().text);
  Snapshot snapshot;
  std::uint64_t last_event = 0;
  while (stage.is_running()) {
    const std::uint64_t before = reader->commit();
    if (const auto taken = reader->snapshot(snapshot); !taken) tally.note(taken.error().text);
    tally.count(snapshot, reader->commit() != before);
    tally.note(fault_of(stage.plan, snapshot));
    const auto batch = reader->events_after(last_event, 64);
    if (!batch) return tally.note(batch.error().text);
    tally.note(fault_of(*batch, last_event));
    last_event = batch->last_sequence;
  }
}

void read_in_place(const Stage& stage, const std::byte* segment, Tally& tally) {
  if (segment == nullptr) return tally.note("the writer's mapping was not found");
  const auto layout = check_layout(std::span(segment, kCheckedHeaderBytes),
                                   std::filesystem::file_size(stage.path), "segment");
  if (!layout) return tally.note(layout.error().text);
  SnapshotCopy copy(*layout, segment, nullptr);
  Snapshot snapshot;
  const auto check = [&](std::uint64_t stamp) {
    if (read_canary(stage, stamp) != ~stamp) tally.note("wrong canary");
  };
  while (stage.is_running()) {
    const std::uint64_t before = copy.load_commit();
    copy.run();
    copy.deliver(snapshot);
    tally.count(snapshot, copy.load_commit() != before);
    tally.note(fault_of(stage.plan, snapshot));
    if (snapshot.commit != 0) check(snapshot.commit);
    for_each_table([&]<class Record>() {
      for (const Record& record : snapshot.rows<Record>()) check(record.identity.stamp);
    });
  }
}

void write(SegmentWriter& writer, Stage& stage, const Tally (&tallies)[2]) {
  const auto has_enough = [](const Tally& tally) {
    return tally.overlapped.load(std::memory_order_relaxed) >= kEnough;
  };
  for (std::uint64_t number = 1; number <= kTransactionsMax; ++number) {
    stage.canaries[number] = ~number;
    stage.plan.run(writer, number);
    if (has_enough(tallies[0]) && has_enough(tallies[1])) break;
    if (number % 16 == 0) std::this_thread::yield();
  }
  stage.is_over.store(true, std::memory_order_relaxed);
}

int run() {
  const SharedScratchFolder scratch;
  Stage stage;
  stage.path = scratch / "main.segment";
  auto writer = SegmentWriter::publish_named(torture_segment(stage.path, kPeriod));
  if (!writer) {
    std::printf("%s\n", writer.error().text.c_str());
    return 1;
  }
  Tally tallies[2];
  std::thread heart([&] {
    while (stage.is_running()) {
      writer->beat();
      writer->set_life(EngineLife::kReady, 0);
      std::this_thread::yield();
    }
  });
  std::thread tool([&] { read_as_a_tool(stage, tallies[0]); });
  std::thread in_place([&] { read_in_place(stage, writable_mapping_of(stage.path), tallies[1]); });
  write(*writer, stage, tallies);
  heart.join();
  tool.join();
  in_place.join();
  bool has_met = true;
  bool is_right = true;
  for (const Tally& tally : tallies) {
    const std::uint64_t overlapped = tally.overlapped.load();
    std::printf("%ju snapshots, %ju consistent, %ju while the commit moved%s%s\n",
                static_cast<std::uintmax_t>(tally.snapshots),
                static_cast<std::uintmax_t>(tally.consistent),
                static_cast<std::uintmax_t>(overlapped), tally.fault.empty() ? "" : ": ",
                tally.fault.c_str());
    has_met &= overlapped > 0;
    is_right &= tally.fault.empty();
  }
  return !is_right ? 1 : !has_met ? 3 : 0;
}

}  // namespace
}  // namespace vitrine::shm::testing

int main() { return vitrine::shm::testing::run(); }
