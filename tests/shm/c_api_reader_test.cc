// SPDX-License-Identifier: Apache-2.0
// libvitrine through its C header: what can be read of any engine.
#include "tests/shm/allocation_count.h"
#include "tests/shm/c_engine.h"

namespace vitrine::shm {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("fields of an engine's own are read back by their names") {
  Engine engine;
  const std::uint64_t job = engine.submit(2);
  const vitrine_item row{"jobs", job, 0, 0};
  const vitrine_item second{"partitions", job, 1, 0};
  CHECK(vitrine_field_set_u64(engine.writer, &row, "x_cost", 42) == VITRINE_OK);
  CHECK(vitrine_field_set_text(engine.writer, &second, "x_layer", "a layer with an \xc3\xa9") ==
        VITRINE_OK);
  CHECK(vitrine_field_set_u64(engine.writer, &row, "x_price", 1) == VITRINE_NO_SUCH_ITEM);
  CHECK(vitrine_field_set_text(engine.writer, &row, "x_cost", "") == VITRINE_BAD_ARGUMENT);
  Reader reader(engine);
  CHECK(reader.look() == VITRINE_OK);
  CHECK(reader.number("jobs", "x_cost") == 42);
  CHECK(reader.text("partitions", "x_layer", 1) == "a layer with an ");
  CHECK(reader.text("partitions", "x_layer", 0).empty());
  std::string json(static_cast<std::size_t>(vitrine_json(reader.taken, nullptr, 0)) + 1, ' ');
  vitrine_json(reader.taken, json.data(), json.size());
  CHECK_THAT(json, Contains("\"x_cost\":42"));
}

TEST_CASE("a reader tells the verdict, values, events and history") {
  Engine engine;
  const std::uint64_t job = engine.submit(1);
  vitrine_job_admit(engine.writer, job);
  CHECK(vitrine_beat(engine.writer) == VITRINE_OK);
  Reader reader(engine);
  REQUIRE(reader.look() == VITRINE_OK);
  CHECK(vitrine_verdict(reader.taken) == VITRINE_VERDICT_BUSY);
  CHECK(vitrine_exit_code(reader.taken) == 0);
  CHECK(vitrine_is_consistent(reader.taken) == 1);
  CHECK(vitrine_commit(reader.taken) == engine.snapshot().commit);
  CHECK(vitrine_rows(reader.taken, "jobs") == 1);
  CHECK(vitrine_rows(reader.taken, "nothing") == VITRINE_NO_SUCH_ITEM);
  CHECK(reader.text("jobs", "state") == "running");
  CHECK(reader.text("jobs", "circuit") == "tower");
  CHECK(reader.text("jobs", "nothing") == vitrine_code_text(VITRINE_NO_SUCH_ITEM));
  const vitrine_place submitted{"jobs", "submitted", 0, 0};
  std::int64_t age_ns = -1;
  CHECK(vitrine_get_age(reader.taken, &submitted, &age_ns) == VITRINE_OK);
  CHECK(age_ns >= 0);
  const vitrine_place finished{"jobs", "finished", 0, 0};
  CHECK(vitrine_get_time(reader.taken, &finished, &age_ns) == VITRINE_ABSENT);
  std::uint32_t tables = 0;
  while (vitrine_table_name(reader.taken, tables) != nullptr) ++tables;
  CHECK(tables >= 15);
  CHECK(vitrine_field_name(reader.taken, "jobs", 0) == std::string("stamp"));
  vitrine_event events[8];
  std::uint64_t missed = 9;
  REQUIRE(vitrine_events_after(reader.reader, 0, events, 8, &missed) == 3);
  CHECK(missed == 0);
  CHECK(vitrine_event_word(events[1].type) == std::string("submit"));
  CHECK(events[2].job == job);
  CHECK(events[2].worker == VITRINE_NONE);
  vitrine_sample samples[4];
  REQUIRE(vitrine_history(reader.reader, samples, 4) == 1);
  CHECK(samples[0].jobs_active == 1);
}

TEST_CASE("a closed engine has exited, and its segment still tells the last state") {
  Engine engine;
  engine.submit(1);
  Reader reader(engine);
  vitrine_close(engine.writer, 3);
  engine.writer = nullptr;
  CHECK(reader.look() == VITRINE_OK);
  CHECK(vitrine_verdict(reader.taken) == VITRINE_VERDICT_EXITED);
  CHECK(vitrine_exit_code(reader.taken) == 4);
  CHECK_THAT(std::string(vitrine_verdict_reason(reader.taken)), Contains("code 3"));
  CHECK(vitrine_rows(reader.taken, "jobs") == 1);
}

TEST_CASE("a look at nothing gives a verdict and the reason") {
  vitrine_target target{};
  target.size = sizeof(target);
  target.path = "/dev/shm/vitrine-test-nothing-here";
  vitrine_reader* reader = nullptr;
  REQUIRE(vitrine_attach(&target, &reader, nullptr, 0) == VITRINE_OK);
  vitrine_snapshot* snapshot = nullptr;
  CHECK(vitrine_look(reader, &snapshot) == VITRINE_ABSENT);
  REQUIRE(snapshot != nullptr);
  CHECK(vitrine_exit_code(snapshot) == 3);
  CHECK(vitrine_rows(snapshot, "jobs") == VITRINE_ABSENT);
  CHECK(vitrine_commit(snapshot) == 0);
  char error[128];
  CHECK(vitrine_reader_error(reader, error, sizeof(error)) > 0);
  vitrine_snapshot_free(snapshot);
  vitrine_detach(reader);
}

TEST_CASE("the deed of a thread that overruns its limit is named") {
  Engine engine;
  std::uint32_t thread = 0;
  CHECK(vitrine_thread_add(engine.writer, "feeder", &thread) == VITRINE_OK);
  CHECK(vitrine_thread_step(engine.writer, thread, "read", 1, 0) == VITRINE_OK);
  CHECK(vitrine_limiter_set(engine.writer, "lanes", 4, 3, 1) == VITRINE_OK);
  CHECK(vitrine_setting_set(engine.writer, "lanes", "4", "default") == VITRINE_OK);
  CHECK(vitrine_error_note(engine.writer, VITRINE_INTERNAL, "odd", 0) == VITRINE_OK);
  CHECK(vitrine_error_note(engine.writer, VITRINE_INTERNAL, "odd", 0) == VITRINE_OK);
  Reader reader(engine);
  CHECK(reader.look() == VITRINE_OK);
  CHECK(vitrine_verdict(reader.taken) == VITRINE_VERDICT_HUNG);
  CHECK_THAT(std::string(vitrine_verdict_reason(reader.taken)), Contains("feeder"));
  CHECK(reader.number("limiters", "used", 1) == 3);
  CHECK(reader.text("settings", "value") == "4");
  CHECK(reader.number("errors", "count") == 2);
  CHECK(vitrine_thread_remove(engine.writer, thread) == VITRINE_OK);
  CHECK(vitrine_thread_step(engine.writer, thread, "read", 0, 0) == VITRINE_NO_SUCH_ITEM);
}

TEST_CASE("degraded and draining are seen with their reasons") {
  Engine engine;
  Reader reader(engine);
  CHECK(vitrine_degraded(engine.writer, "one lathe is hot") == VITRINE_OK);
  CHECK(reader.look() == VITRINE_OK);
  CHECK(vitrine_verdict(reader.taken) == VITRINE_VERDICT_DEGRADED);
  CHECK(vitrine_draining(engine.writer) == VITRINE_OK);
  CHECK(reader.look() == VITRINE_OK);
  CHECK(vitrine_verdict(reader.taken) == VITRINE_VERDICT_DRAINING);
  CHECK(reader.text("workers", "idle_reason") == "draining");
}

TEST_CASE("the life of a partition allocates nothing, whatever the engine goes through") {
  Engine engine;
  const std::size_t at_first = allocations;
  const std::uint64_t job = engine.submit(2);
  CHECK(allocations > at_first);  // the library's allocations are counted
  vitrine_memory_budget(engine.writer, 1000);
  const vitrine_consumer partition{VITRINE_CONSUMER_PARTITION, 0, job, nullptr};
  const std::size_t before = allocations;
  int codes = vitrine_job_admit(engine.writer, job);
  codes |= vitrine_memory_reserve(engine.writer, &partition, 100);
  for (const std::uint32_t stage : {1U, 0U, 2U, 3U}) {
    const std::uint32_t worker = stage == 2 ? engine.worker : VITRINE_NONE;
    codes |= vitrine_partition_stage(engine.writer, job, 0, stage, worker);
  }
  codes |= vitrine_partition_done(engine.writer, job, 0);
  codes |= vitrine_job_failed(engine.writer, job, VITRINE_TIMEOUT, "too late");
  CHECK(allocations == before);
  CHECK(codes == VITRINE_OK);
}

}  // namespace
}  // namespace vitrine::shm
