// SPDX-License-Identifier: Apache-2.0
// Whatever is thrown, wherever: one job fails, the thread goes on and says so.
#include <catch2/catch.hpp>
#include <new>
#include <stdexcept>

#include "tests/engine/device_scripts.h"

namespace vitrine::engine::testing {
namespace {

using Catch::Matchers::Contains;
using shm::FailureClass;
using shm::JobState;

Result<void> throw_exception() { throw std::runtime_error("a broken stage"); }
Result<void> throw_number() { throw 7; }
Result<void> throw_bad_alloc() { throw std::bad_alloc(); }

struct Thrown {
  Result<void> (*what)();
  FailureClass failure_class;
  bool counts_as_restart;
};

bool is_error_known(EngineFixture& fixture, const std::string& text) {
  const shm::Snapshot seen = fixture.snapshot();
  return std::ranges::any_of(seen.rows<shm::ErrorRecord>(), [&](const shm::ErrorRecord& error) {
    return error.text.view().find(text) != std::string_view::npos;
  });
}

std::uint64_t restarts(EngineFixture& fixture) {
  std::uint64_t sum = 0;
  const shm::Snapshot seen = fixture.snapshot();
  for (const auto& worker : seen.rows<shm::WorkerRecord>()) sum += worker.restarts;
  return sum;
}

TEST_CASE("whatever a stage throws fails one job and not the next", "[E3]") {
  const auto thrown = GENERATE(Thrown{throw_exception, FailureClass::kInternal, true},
                               Thrown{throw_number, FailureClass::kInternal, true},
                               Thrown{throw_bad_alloc, FailureClass::kOutOfMemory, false});
  const auto stage = GENERATE(ScriptedStage::kSynthesize, ScriptedStage::kStart,
                              ScriptedStage::kFinish, ScriptedStage::kVerify);
  EngineFixture fixture([&](ScriptedStage now, unsigned call) {
    return now == stage && call == 0 ? thrown.what() : Result<void>();
  });
  const JobStatus failed = fixture.final_status(fixture.submitted("demo", 1));
  CHECK(failed.record.state == JobState::kFailed);
  CHECK(failed.record.failure_class == thrown.failure_class);
  CHECK(fixture.final_status(fixture.submitted("demo", 1)).record.state == JobState::kDone);
  const bool is_worker = stage != ScriptedStage::kSynthesize;
  CHECK(restarts(fixture) == (is_worker && thrown.counts_as_restart ? 1 : 0));
  CHECK(is_error_known(fixture, is_worker ? "proving" : "synthesis"));
  fixture.check_quiet();
}

// Throws once, in the thread whose change has this phrase: the change is made, what it answered is
// lost.
class ThrowingJournal : public Journal {
 public:
  explicit ThrowingJournal(std::string phrase) : phrase_(std::move(phrase)) {}
  void write(const JournalEntry& entry) override {
    if (entry.what == phrase_ && !has_thrown_.exchange(true)) throw std::bad_alloc();
  }

 private:
  std::string phrase_;
  std::atomic<bool> has_thrown_{false};
};

TEST_CASE("an exception between the stages leaves nothing behind", "[E3]") {
  const std::string phrase = GENERATE("synthesis started", "synthesized", "picked up",
                                      "partition done", "key ready", "job done");
  CAPTURE(phrase);
  ThrowingJournal journal(phrase);
  EngineFixture fixture({}, [&](EngineOptions& options) { options.journal = &journal; });
  const JobStatus status = fixture.final_status(fixture.submitted("demo", 1));
  if (status.record.state != JobState::kDone) {
    CHECK(status.record.state == JobState::kFailed);
    CHECK(status.record.failure_class == FailureClass::kOutOfMemory);
  }
  fixture.await([&] { return is_error_known(fixture, "no memory"); });  // also after the job's end
  CHECK(fixture.final_status(fixture.submitted("demo", 3)).record.state == JobState::kDone);
  fixture.check_quiet();
}

TEST_CASE("a key whose load throws fails its job, and the next one loads it") {
  std::atomic<int> loads{0};
  EngineFixture fixture({}, [&](EngineOptions& options) {
    options.key_reader = [&](const auto& path, const auto& how, auto& threads) {
      if (loads.fetch_add(1) == 0) throw std::runtime_error("a broken reader");
      return load_proving_key(path, how, threads);
    };
  });
  const JobStatus failed = fixture.final_status(fixture.submitted("demo", 3));
  CHECK(failed.record.failure_class == FailureClass::kInternal);
  CHECK_THAT(failed.failure, Contains("a broken reader"));
  CHECK(fixture.final_status(fixture.submitted("demo", 1)).record.state == JobState::kDone);
  fixture.check_quiet();
}

}  // namespace
}  // namespace vitrine::engine::testing
