// SPDX-License-Identifier: Apache-2.0
// Two readers that share no code, this library and tools/python/vitrine.py, see the same.
//
// VITRINE_RANDOM_SEGMENTS  how many random segments (20); VITRINE_RANDOM_SEED the first seed (1)
#include <boost/json/serialize.hpp>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "tests/shm/random_segment.h"
#include "tests/shm/segment_json.h"

namespace vitrine::shm {
namespace {

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// Runs a script of tests/python; its exit status.
int run_script(const std::string& script, const std::filesystem::path& argument) {
  const auto folder = std::filesystem::path(VITRINE_TEST_DATA).parent_path() / "python";
  const std::string command =
      "python3 '" + (folder / script).string() + "' '" + argument.string() + "'";
  return std::system(command.c_str());
}

// Carries amounts between rows: whatever the moment, they add up to the total, and the number of
// the transaction stands in three places.
class Ledger {
 public:
  static constexpr std::uint32_t kRows = 32;
  static constexpr std::uint64_t kTotal = 1'000'000;

  explicit Ledger(SegmentWriter& writer) : writer_(writer) {
    Transaction open = writer_.begin();
    for (std::uint32_t row = 0; row < kRows; ++row) {
      PartitionRecord& partition = open.recycle<PartitionRecord>(row);
      partition.stage = PartitionStage::kPending;
      partition.reserved_bytes = kTotal / kRows;
    }
    open.edit<MemoryRecord>().reserved_bytes = kTotal;
  }

  void carry() {
    ++carried_;
    Transaction open = writer_.begin();
    PartitionRecord& from = open.edit<PartitionRecord>(random_() % kRows);
    PartitionRecord& to = open.edit<PartitionRecord>(random_() % kRows);
    const std::uint64_t amount = from.reserved_bytes == 0 ? 0 : random_() % from.reserved_bytes;
    from.reserved_bytes -= amount;
    to.reserved_bytes += amount;
    open.edit<MemoryRecord>().evictions = carried_;
    open.edit<EngineRecord>().stale_events = carried_;
    Event event;
    event.argument = carried_;
    open.append(event);
  }

 private:
  SegmentWriter& writer_;
  std::minstd_rand random_{7};
  std::uint64_t carried_ = 0;
};

}  // namespace

TEST_CASE("The Python reader and this one agree on random segments, field by field") {
  const std::uint64_t count = setting("VITRINE_RANDOM_SEGMENTS", 20);
  const std::uint64_t seed = setting("VITRINE_RANDOM_SEED", 1);
  SharedScratchFolder shared;
  ScratchFolder folder;
  for (std::uint64_t i = seed; i < seed + count; ++i) {
    CAPTURE(i);
    const std::string name = "seed_" + std::to_string(i);
    write_whole(folder / (name + ".segment"), RandomSegment(i).bytes(shared.path()));
    const auto shown = segment_json(folder / (name + ".segment"));
    write_whole(folder / (name + ".json"), boost::json::serialize(shown));
  }
  CHECK(run_script("agreement.py", folder.path()) == 0);
}

TEST_CASE("What the Python reader calls consistent is one moment of a writer that never stops") {
  SharedScratchFolder folder;
  SegmentWriter writer = publish(small_segment(folder / "main.segment"));
  writer.set_life(EngineLife::kReady, 0);
  Ledger ledger(writer);
  std::atomic<bool> is_over = false;
  std::thread engine([&] {
    // Bursts flat out, with pauses in which a slow reader can see a moment.
    for (std::uint64_t i = 0; !is_over; ++i) {
      ledger.carry();
      if (i % 256 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(3));
      if (i % 640 == 0) writer.beat();
    }
  });
  const int status = run_script("live_ledger.py", folder / "main.segment");
  is_over = true;
  engine.join();
  CHECK(status == 0);
}

}  // namespace vitrine::shm
