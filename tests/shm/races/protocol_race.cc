// SPDX-License-Identifier: Apache-2.0
// The protocol under ThreadSanitizer, right or weakened: a weakened one must be reported.
//
//   protocol_race row|commit|ring real|plain_words|weak_writer|weak_reader
//
// The writer stores a plain canary, then publishes; whoever reads what was published reads the
// canary. Only release and acquire make that no race. `plain_words` is right as well: it orders
// head and commit alone, as production does, where the sanitizer's build orders every word.
// Exits 0 when all was well, 66 when the sanitizer found a race (it says which), 1 when a canary
// was wrong, 2 on wrong use, 3 when writer and reader never met.
#include <atomic>
#include <cstdio>
#include <string_view>
#include <thread>
#include <vector>

#include "shm/protocol.h"
#include "shm/ring_protocol.h"

extern "C" const char* __tsan_default_options() { return "halt_on_error=1:exitcode=66"; }

namespace vitrine::shm {
namespace {

constexpr std::uint64_t kPublishesMax = 1'000'000;
constexpr std::uint64_t kEnough = 300;  // different versions read

struct PlainWords : MappedMemory {
  static constexpr std::memory_order kWordLoad = std::memory_order_relaxed;
  static constexpr std::memory_order kWordStore = std::memory_order_relaxed;
};
// Loses every release and acquire.
struct Weak : PlainWords {
  static Word load(const Word& word, std::memory_order) noexcept {
    return MappedMemory::load(word, std::memory_order_relaxed);
  }
  static void store(Word& word, Word value, std::memory_order) noexcept {
    MappedMemory::store(word, value, std::memory_order_relaxed);
  }
};

struct Entry {
  std::uint64_t stamp = 0;
  std::uint64_t sequence = 0;
};

constexpr std::uint64_t canary_of(std::uint64_t stamp) { return stamp * 0x9E3779B97F4A7C15; }

// What the two threads share: words of the protocol, and canaries that no order protects.
struct Stage {
  static constexpr std::size_t kWords = 3;
  static constexpr std::uint64_t kRing = 8;

  std::uint64_t commit = 0;
  std::uint64_t head = 0;
  std::uint64_t slots[kSlots * kWords] = {};
  std::uint64_t ring_head = 0;
  std::uint64_t ring_slots[kRing * 2] = {};
  std::vector<std::uint64_t> canaries = std::vector<std::uint64_t>(kPublishesMax + 1);
  std::atomic<std::uint64_t> versions_read{0};  // relaxed, so that it orders nothing
  std::atomic<bool> is_over{false};

  template <class Word>
  RingWords<Word> ring() {
    return {&ring_head, ring_slots, 2, 2, kRing};
  }
};

// Not inlined: the sanitizer's report must name it.
__attribute__((noinline)) std::uint64_t read_canary(const Stage& stage, std::uint64_t stamp) {
  return stage.canaries[stamp];
}

// Each check publishes stamp after stamp in one way, and reads the newest in that way; zero when
// there is nothing to read.
struct Row {
  template <class Memory>
  static void write(Stage& stage, std::uint64_t stamp) {
    const std::uint64_t payload[Stage::kWords] = {stamp, canary_of(stamp), stamp};
    publish<Memory>(RecordWords<std::uint64_t>{&stage.head, stage.slots, Stage::kWords}, payload);
  }
  template <class Memory>
  static std::uint64_t read(Stage& stage) {
    std::uint64_t payload[Stage::kWords];
    const auto outcome =
        read_at<Memory>(RecordWords<const std::uint64_t>{&stage.head, stage.slots, Stage::kWords},
                        kAnyCommit, payload);
    return outcome == ReadOutcome::kOk ? payload[0] : 0;
  }
};
struct Commit {
  template <class Memory>
  static void write(Stage& stage, std::uint64_t stamp) {
    store_commit<Memory>(stage.commit, stamp);
  }
  template <class Memory>
  static std::uint64_t read(Stage& stage) {
    return load_commit<Memory>(stage.commit);
  }
};
struct Ring {
  template <class Memory>
  static void write(Stage& stage, std::uint64_t stamp) {
    const std::uint64_t entry[2] = {stamp, stamp};
    append_entry<Memory>(stage.ring<std::uint64_t>(), stamp, entry);
  }
  template <class Memory>
  static std::uint64_t read(Stage& stage) {
    Entry out[Stage::kRing];
    const RingRange range =
        copy_entries<Memory, Entry>(stage.ring<const std::uint64_t>(), 0, kAnyCommit, out);
    return range.count == 0 ? 0 : out[range.skipped + range.count - 1].stamp;
  }
};

template <class Check, class WriterMemory, class ReaderMemory>
int race() {
  Stage stage;
  std::uint64_t wrong = 0;
  std::thread reader([&] {
    std::uint64_t last = 0;
    std::uint64_t versions = 0;
    while (!stage.is_over.load(std::memory_order_relaxed)) {
      const std::uint64_t stamp = Check::template read<ReaderMemory>(stage);
      if (stamp == 0 || stamp == last) continue;
      wrong += stamp < last || read_canary(stage, stamp) != canary_of(stamp);
      last = stamp;
      stage.versions_read.store(++versions, std::memory_order_relaxed);
    }
  });
  for (std::uint64_t stamp = 1; stamp <= kPublishesMax; ++stamp) {
    stage.canaries[stamp] = canary_of(stamp);
    Check::template write<WriterMemory>(stage, stamp);
    if (stage.versions_read.load(std::memory_order_relaxed) >= kEnough) break;
    if (stamp % 16 == 0) std::this_thread::yield();
  }
  stage.is_over.store(true, std::memory_order_relaxed);
  reader.join();
  const std::uint64_t versions = stage.versions_read.load(std::memory_order_relaxed);
  std::printf("%ju versions read, %ju wrong\n", static_cast<std::uintmax_t>(versions),
              static_cast<std::uintmax_t>(wrong));
  return wrong != 0 ? 1 : versions < 100 ? 3 : 0;
}

template <class Check>
int race_as(std::string_view policy) {
  if (policy == "real") return race<Check, MappedMemory, MappedMemory>();
  if (policy == "plain_words") return race<Check, PlainWords, PlainWords>();
  if (policy == "weak_writer") return race<Check, Weak, PlainWords>();
  if (policy == "weak_reader") return race<Check, PlainWords, Weak>();
  return 2;
}

int run(std::string_view check, std::string_view policy) {
  if (check == "row") return race_as<Row>(policy);
  if (check == "commit") return race_as<Commit>(policy);
  if (check == "ring") return race_as<Ring>(policy);
  return 2;
}

}  // namespace
}  // namespace vitrine::shm

int main(int argc, char** argv) { return argc == 3 ? vitrine::shm::run(argv[1], argv[2]) : 2; }
