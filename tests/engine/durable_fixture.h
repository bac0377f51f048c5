// SPDX-License-Identifier: Apache-2.0
// An engine with a job store and a spool of its own, that can be stopped and started again.
#pragma once

#include <optional>

#include "engine/job_store.h"
#include "engine/spool.h"
#include "tests/engine/container_bytes.h"
#include "tests/engine/engine_fixture.h"

namespace vitrine::engine::testing {

class DurableFixture {
 public:
  static constexpr std::uint32_t kDeathsMax = 3;
  using Adjust = std::function<void(EngineOptions&)>;

  explicit DurableFixture(ScriptedBackend::Script script = {}, const Adjust& adjust = {}) {
    start(std::move(script), adjust);
  }
  ~DurableFixture() { stop(); }

  // Drains at once and ends.
  void stop() {
    engine_.reset();
    store_.reset();
    spool_.reset();
  }
  void start(ScriptedBackend::Script script = {}, const Adjust& adjust = {}) {
    spool_ = Spool::open(scratch_ / "spool", std::uint64_t{1} << 24).value();
    store_ = JobStore::open(store_path(), limits).value();
    auto resumed = take_up_jobs(*store_, *spool_, kDeathsMax);
    if (!resumed) FAIL(resumed.error().text);
    engine_.emplace(std::move(script), [&](EngineOptions& options) {
      options.store = store_.get();
      options.spool = spool_.get();
      options.resumed = std::move(*resumed);
      if (adjust) adjust(options);
    });
  }

  Engine& engine() { return engine_->engine(); }
  EngineFixture& fixture() { return *engine_; }
  JobStore& store() { return *store_; }
  std::filesystem::path store_path() const { return scratch_ / "jobs.db"; }
  std::filesystem::path spool_path() const { return scratch_ / "spool"; }
  // All but the lock.
  std::size_t spooled_files() const {
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(spool_path())) {
      files += entry.path().filename() != "lock";
    }
    return files;
  }

  // A job of uploads.
  JobRequest request(const std::string& id, unsigned partitions = 1,
                     const std::string& circuit = "demo") {
    JobRequest request;
    request.circuit = circuit;
    request.request_id = id;
    for (unsigned number = 0; number < partitions; ++number) {
      auto file = spool_->create().value();
      const std::string name = "witness." + std::to_string(number % 10) + ".wtns";
      const std::string bytes = read_file(circuit_folder("bn128", "demo") / name);
      CHECK(file->append(bytes).has_value());
      request.witnesses.push_back(SpoolFile::finish(std::move(file)));
    }
    return request;
  }
  // A job of one uploaded input.
  JobRequest input_request(const std::string& text, const std::string& circuit = "demo") {
    auto file = spool_->create(WitnessKind::kInput).value();
    CHECK(file->append(text).has_value());
    JobRequest request;
    request.circuit = circuit;
    WitnessFile& input = request.witnesses.emplace_back(SpoolFile::finish(std::move(file)));
    input.kind = WitnessKind::kInput;
    input.name = "in.json";
    return request;
  }
  Acceptance received(JobRequest request) {
    const Reception reception = engine().receive(std::move(request));
    if (!reception) FAIL(reception.error().text);
    return *reception;
  }
  JobStatus final_status(JobId id) { return engine_->final_status(id); }

  ResultLimits limits;

 private:
  ScratchFolder scratch_;
  std::unique_ptr<Spool> spool_;
  std::unique_ptr<JobStore> store_;
  std::optional<EngineFixture> engine_;
};

// Another program that keeps the database from being written.
class StoreBlocker {
 public:
  explicit StoreBlocker(const std::filesystem::path& path)
      : database_(SqliteDatabase::open(path, SqliteDatabase::Access::kWrite).value()) {
    REQUIRE(database_.run("BEGIN IMMEDIATE").has_value());
  }
  ~StoreBlocker() { release(); }
  void release() {
    if (std::exchange(is_blocking_, false)) (void)database_.run("ROLLBACK");
  }

 private:
  SqliteDatabase database_;
  bool is_blocking_ = true;
};

}  // namespace vitrine::engine::testing
