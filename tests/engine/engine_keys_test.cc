// SPDX-License-Identifier: Apache-2.0
// Proving keys under a budget that does not hold all of them: loaded by urgency, counted, evicted.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <thread>

#include "shm/segment_reader.h"
#include "tests/engine/engine_fixture.h"

namespace vitrine::engine::testing {
namespace {

using shm::AllocationKind;
using shm::AllocationState;
using shm::JobState;
using shm::Priority;
using shm::WaitReason;

constexpr std::uint64_t kMillisecond = 1'000'000;

// Rows of the circuits of the fixture.
enum Row : std::size_t { kDemo, kMultiplier, kBls };

std::uint64_t largest_need() {
  return std::max({peak_bytes("demo"), peak_bytes("multiplier"), peak_bytes("bls")});
}

std::function<void(EngineOptions&)> with_budget(std::uint64_t bytes, std::uint64_t min_idle_ns) {
  return [=](EngineOptions& options) {
    options.configuration.memory_budget_bytes = bytes;
    options.configuration.eviction_min_idle_ns = min_idle_ns;
  };
}

const shm::AllocationRecord& row_of(const shm::Snapshot& snapshot, Row circuit,
                                    AllocationKind kind) {
  return snapshot.rows<shm::AllocationRecord>().at(2 * circuit +
                                                   (kind == AllocationKind::kPce ? 1 : 0));
}

std::vector<shm::Event> events_of(EngineFixture& fixture, shm::EventType type) {
  auto reader = shm::SegmentReader::attach(fixture.segment_path());
  REQUIRE(reader.has_value());
  std::vector<shm::Event> found;
  const auto batch = reader->events_after(0, 16384);
  for (const shm::Event& event : batch->events) {
    if (event.type == type) found.push_back(event);
  }
  return found;
}

TEST_CASE("keys that do not fit together take turns, each eviction is counted and told") {
  EngineFixture fixture({}, with_budget(largest_need(), 0));
  for (int round = 0; round < 5; ++round) {
    for (const char* circuit : {"demo", "bls"}) {
      CHECK(fixture.final_status(fixture.submitted(circuit, 2)).record.state == JobState::kDone);
    }
  }
  fixture.check_quiet();
  const shm::Snapshot seen = fixture.snapshot();
  for (const AllocationKind kind : {AllocationKind::kSrs, AllocationKind::kPce}) {
    CHECK(row_of(seen, kDemo, kind).loads == 5);
    CHECK(row_of(seen, kDemo, kind).misses == 5);
    CHECK(row_of(seen, kDemo, kind).hits == 0);
    CHECK(row_of(seen, kDemo, kind).evictions == 5);
    CHECK(row_of(seen, kDemo, kind).reserved_bytes == 0);
    CHECK(row_of(seen, kBls, kind).evictions == 4);
    CHECK(row_of(seen, kBls, kind).state == AllocationState::kReady);
  }
  CHECK(events_of(fixture, shm::EventType::kEvict).size() == 9);
}

TEST_CASE("ten jobs that wait together for one cold key: one miss, nine hits, one load", "[E7]") {
  EngineFixture fixture({}, with_budget(peak_bytes("demo"), 0));
  fixture.engine().set_pause(Engine::Pause::kOn);
  std::vector<JobId> jobs;
  for (int i = 0; i < 10; ++i) jobs.push_back(fixture.submitted("demo", 1));
  fixture.engine().set_pause(Engine::Pause::kOff);
  for (const JobId id : jobs) CHECK(fixture.final_status(id).record.state == JobState::kDone);
  const shm::Snapshot seen = fixture.snapshot();
  for (const AllocationKind kind : {AllocationKind::kSrs, AllocationKind::kPce}) {
    CHECK(row_of(seen, kDemo, kind).loads == 1);
    CHECK(row_of(seen, kDemo, kind).misses == 1);
    CHECK(row_of(seen, kDemo, kind).hits == 9);
  }
}

TEST_CASE("a key is evicted as soon as it has been idle long enough, by the clock alone", "[E5]") {
  constexpr std::uint64_t kIdle = 300 * kMillisecond;
  EngineFixture fixture({}, with_budget(largest_need(), kIdle));
  fixture.final_status(fixture.submitted("demo", 1));
  const std::uint64_t used_ns = fixture.engine().circuits().at(kDemo).last_used.ns;
  const JobId waiting = fixture.submitted("bls", 1);
  fixture.snapshot_when([&](const shm::Snapshot& now) {
    return job_row(now, waiting).wait_reason == WaitReason::kMemory;
  });
  const JobStatus status = fixture.final_status(waiting);
  CHECK(status.record.state == JobState::kDone);
  const std::uint64_t evicted_ns = events_of(fixture, shm::EventType::kEvict).at(0).time.ns;
  CHECK(evicted_ns >= used_ns + kIdle);
  CHECK(status.record.admitted.ns == evicted_ns);  // in the change that gave the bytes back
  CHECK(evicted_ns < used_ns + kIdle + 1'000 * kMillisecond);
}

TEST_CASE("a key that is in use is evicted once it is not, for the job that waits", "[E5]") {
  Gate gate;
  EngineFixture fixture(
      [&gate](ScriptedStage stage, unsigned call) -> Result<void> {
        if (stage == ScriptedStage::kVerify && call == 0) gate.pass();
        return {};
      },
      with_budget(largest_need(), 0));
  const JobId user = fixture.submitted("demo", 1);
  gate.await_arrivals(1);
  const JobId waiting = fixture.submitted("bls", 1);
  const shm::Snapshot held = fixture.snapshot_when([&](const shm::Snapshot& now) {
    return job_row(now, waiting).wait_reason == WaitReason::kMemory;
  });
  CHECK(row_of(held, kDemo, AllocationKind::kSrs).state == AllocationState::kReady);
  gate.open();
  CHECK(fixture.final_status(user).record.state == JobState::kDone);
  CHECK(fixture.final_status(waiting).record.state == JobState::kDone);
  CHECK(fixture.engine().circuits().at(kDemo).evictions == 1);
  fixture.check_quiet();
}

TEST_CASE("a resident key stays while others take turns beside it") {
  const std::uint64_t demo_bytes = [] {
    EngineFixture fixture;
    fixture.final_status(fixture.submitted("demo", 1));
    const shm::MemoryRecord memory = fixture.snapshot().memory();
    return memory.srs_bytes + memory.pce_bytes;
  }();
  const std::uint64_t others = std::max(peak_bytes("multiplier"), peak_bytes("bls"));
  const std::uint64_t budget_bytes = std::max(demo_bytes + others, peak_bytes("demo"));
  EngineFixture fixture({}, [&](EngineOptions& options) {
    with_budget(budget_bytes, 0)(options);
    options.configuration.circuits[kDemo].keep_resident = true;
  });
  for (int round = 0; round < 3; ++round) {
    for (const char* circuit : {"bls", "multiplier", "demo"}) {
      CHECK(fixture.final_status(fixture.submitted(circuit, 1)).record.state == JobState::kDone);
    }
  }
  CHECK(fixture.engine().circuits().at(kDemo).loads == 1);
  CHECK(fixture.engine().circuits().at(kDemo).evictions == 0);
  CHECK(fixture.engine().circuits().at(kDemo).misses == 0);
  CHECK(fixture.engine().circuits().at(kBls).evictions > 0);
}

// Key files are read when the test lets them be.
class HeldKeys {
 public:
  std::function<void(EngineOptions&)> options(std::uint32_t loaders = 1) {
    return [this, loaders](EngineOptions& options) {
      options.configuration.key_loaders = loaders;
      options.key_reader = [this](const std::filesystem::path& path, const ProvingKeyOptions& how,
                                  kernels::ThreadPool& threads) {
        const std::string name = path.parent_path().filename();
        const std::string curve = path.parent_path().parent_path().filename();
        order_of(curve == "bls12381" ? "bls" : name);
        if (name == "demo" && curve != "bls12381") gate_.pass();
        return load_proving_key(path, how, threads);
      };
    };
  }
  Gate& gate() { return gate_; }
  std::vector<std::string> order() {
    const std::lock_guard lock(mutex_);
    return order_;
  }

 private:
  void order_of(const std::string& circuit) {
    const std::lock_guard lock(mutex_);
    order_.push_back(circuit);
  }

  Gate gate_;
  std::mutex mutex_;
  std::vector<std::string> order_;
};

TEST_CASE("a critical job's key never queues behind the load of another job", "[E2]") {
  HeldKeys keys;
  EngineFixture fixture({}, keys.options());
  const JobId loading = fixture.submitted("demo", 1);
  keys.gate().await_arrivals(1);
  const JobId ordinary = fixture.submit("multiplier", 1, Priority::kHigh).value();
  const JobId critical = fixture.submit("bls", 1, Priority::kCritical).value();
  CHECK(fixture.final_status(critical).record.state == JobState::kDone);
  const shm::Snapshot held = fixture.snapshot();
  CHECK(job_row(held, loading).wait_reason == WaitReason::kSrs);
  CHECK(job_row(held, ordinary).wait_reason == WaitReason::kSrs);
  CHECK(row_of(held, kMultiplier, AllocationKind::kSrs).state == AllocationState::kAbsent);
  const auto& limiters = held.rows<shm::LimiterRecord>();
  const auto loads = std::ranges::find_if(limiters, [](const shm::LimiterRecord& limiter) {
    return limiter.name.view() == "key_loads";
  });
  REQUIRE(loads != limiters.end());
  CHECK(loads->limit == 2);
  CHECK(loads->used == 1);
  CHECK(loads->used_peak == 2);
  CHECK(loads->waiting == 1);
  keys.gate().open();
  CHECK(fixture.final_status(loading).record.state == JobState::kDone);
  CHECK(fixture.final_status(ordinary).record.state == JobState::kDone);
  fixture.check_quiet();
}

TEST_CASE("keys are loaded in the order of the jobs' urgency, not of their arrival") {
  HeldKeys keys;
  EngineFixture fixture({}, keys.options());
  const JobId loading = fixture.submitted("demo", 1);
  keys.gate().await_arrivals(1);
  const JobId low = fixture.submit("multiplier", 1, Priority::kLow).value();
  const JobId high = fixture.submit("bls", 1, Priority::kHigh).value();
  keys.gate().open();
  for (const JobId id : {loading, low, high}) {
    CHECK(fixture.final_status(id).record.state == JobState::kDone);
  }
  CHECK(keys.order() == std::vector<std::string>{"demo", "bls", "multiplier"});
}

TEST_CASE("a job whose key is there does not wait while another's is loaded") {
  HeldKeys keys;
  EngineFixture fixture({}, keys.options());
  fixture.final_status(fixture.submitted("multiplier", 1));
  const JobId loading = fixture.submitted("demo", 1);
  keys.gate().await_arrivals(1);
  CHECK(fixture.final_status(fixture.submitted("multiplier", 3)).record.state == JobState::kDone);
  CHECK_FALSE(fixture.engine().status(loading)->is_final());
  keys.gate().open();
  CHECK(fixture.final_status(loading).record.state == JobState::kDone);
}

TEST_CASE("the matrices of a key are ready before its points, and no partition starts between") {
  Gate gate;
  EngineFixture fixture({}, [&](EngineOptions& options) {
    options.key_reader = [&](const std::filesystem::path& path, const ProvingKeyOptions& how,
                             kernels::ThreadPool& threads) {
      ProvingKeyOptions held = how;
      held.progress = [&, had = false](const LoadedBytes& loaded) mutable {
        how.progress(loaded);
        if (loaded.has_constraints && !std::exchange(had, true)) gate.pass();
      };
      return load_proving_key(path, held, threads);
    };
  });
  const JobId id = fixture.submitted("demo", 1);
  gate.await_arrivals(1);
  const shm::Snapshot between = fixture.snapshot_when([](const shm::Snapshot& now) {
    return row_of(now, kDemo, AllocationKind::kPce).state == AllocationState::kReady;
  });
  const auto& points = row_of(between, kDemo, AllocationKind::kSrs);
  CHECK(points.state == AllocationState::kLoading);
  CHECK(points.loaded_bytes < points.total_bytes);
  CHECK(points.reserved_bytes == points.total_bytes);
  CHECK(job_row(between, id).wait_reason == WaitReason::kSrs);
  gate.open();
  CHECK(fixture.final_status(id).record.state == JobState::kDone);
}

TEST_CASE("jobs of three circuits in a budget for one all end, some of them cancelled") {
  EngineFixture fixture({}, with_budget(largest_need(), 0));
  std::vector<std::thread> clients;
  std::atomic<unsigned> wrong{0};
  for (unsigned number = 0; number < 4; ++number) {
    clients.emplace_back([&, number] {
      const char* circuits[] = {"demo", "bls", "multiplier"};
      for (unsigned i = 0; i < 15; ++i) {
        const auto priority = static_cast<Priority>(1 + (number + i) % 4);
        const auto id = fixture.submit(circuits[(number + i) % 3], 1 + i % 3, priority);
        if (!id) {
          ++wrong;
          continue;
        }
        if (i % 5 == 0) (void)fixture.engine().cancel(*id);
        const auto status =
            fixture.engine().wait(*id, std::chrono::steady_clock::now() + std::chrono::seconds(60));
        const bool is_right = status && (status->record.state == JobState::kDone ||
                                         status->record.state == JobState::kCancelled);
        wrong += is_right ? 0 : 1;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  CHECK(wrong == 0);
  fixture.check_quiet();
}

}  // namespace
}  // namespace vitrine::engine::testing
