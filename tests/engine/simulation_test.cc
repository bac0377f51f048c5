// SPDX-License-Identifier: Apache-2.0
// Small loads whose answers can be worked out by hand, and large ones that must be the same twice.
#include "engine/simulation.h"

#include <boost/json.hpp>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace vitrine::engine::testing {
namespace {

using Catch::Matchers::Contains;

constexpr std::uint64_t kSecond = 1'000'000'000;

SimulatedLoad load_of(const std::string& text) {
  auto load = parse_simulated_load(text, "test");
  if (!load) FAIL(load.error().text);
  return std::move(*load);
}

SimulationResult result_of(const std::string& text) { return simulate(load_of(text)); }

// Start and end of each job, in seconds.
using Times = std::vector<std::pair<double, double>>;

Times times_of(const SimulationResult& result) {
  Times times;
  for (const SimulatedEnd& job : result.jobs) {
    times.emplace_back(static_cast<double>(job.started_ns) / kSecond,
                       static_cast<double>(job.finished_ns) / kSecond);
  }
  return times;
}

const std::string kBudget = R"({"settings": {"memory_budget": 1000}})"
                            "\n";
// In the cache from the start.
const std::string kWarm =
    R"({"circuit": "c", "key_bytes": 0, "partition_bytes": 10, "keep_resident": true, )"
    R"("synthesize": "1s", "start": "4s", "finish": "6s"})"
    "\n";

TEST_CASE("one partition takes the key's load and each stage, one after the other") {
  const SimulationResult result = result_of(
      kBudget + R"({"circuit": "c", "key_bytes": 100, "partition_bytes": 10, "load": "5s", )"
                R"("synthesize": "2s", "start": "1s", "finish": "3s", "verify": "500ms"})"
                "\n"
                R"({"job": "c", "at": "1s"})");
  CHECK(times_of(result) == Times{{6, 12.5}});
  CHECK(result.loads == 1);
  CHECK(result.peak_bytes == 110);
  CHECK(result.device_busy_ns == 4 * kSecond);
  CHECK(result.synthesis_busy_ns == 2 * kSecond);
}

TEST_CASE("the next partition is synthesized while the device proves") {
  const SimulationResult result = result_of(kBudget + kWarm + R"({"job": "c", "partitions": 3})");
  CHECK(times_of(result) == Times{{0, 31}});
  CHECK(result.device_busy_ns == 30 * kSecond);
}

TEST_CASE("two devices prove at once") {
  const SimulationResult result =
      result_of(kBudget + kWarm + "{\"devices\": 2}\n" + R"({"job": "c", "partitions": 2})");
  CHECK(times_of(result) == Times{{0, 12}});
}

TEST_CASE("critical work waits for the partition in the kernels only") {
  const SimulationResult result =
      result_of(kBudget + kWarm +
                R"({"jobs": "c", "count": 5})"
                "\n"
                R"({"job": "c", "at": "7s", "priority": "critical", "deadline": "14s"})");
  // It starts at once, takes the place of one that a worker holds, and follows the first.
  CHECK(times_of(result).back() == std::pair<double, double>{7, 21});
  CHECK(result.put_back == 1);
  CHECK(times_of(result)[1].second == 31);
}

TEST_CASE("bytes that go back after the first proving step let the next partition start") {
  const std::string circuit =
      R"({"circuit": "c", "partition_bytes": 600, "freed_bytes": FREED, "keep_resident": true, )"
      R"("synthesize": "1s", "start": "4s", "finish": "6s"})"
      "\n";
  const auto with = [&](const std::string& freed) {
    std::string text = circuit;
    text.replace(text.find("FREED"), 5, freed);
    return times_of(result_of(kBudget + text + R"({"jobs": "c", "count": 2})"));
  };
  CHECK(with("200") == Times{{0, 11}, {5, 21}});
  CHECK(with("199") == Times{{0, 11}, {11, 22}});
}

TEST_CASE("a key that was idle long enough is evicted for another, at that moment") {
  const std::string two =
      R"({"circuit": "a", "key_bytes": 600, "partition_bytes": 400, "load": "1s", "start": "2s"})"
      "\n"
      R"({"circuit": "b", "key_bytes": 600, "partition_bytes": 400, "load": "1s", "start": "2s"})"
      "\n";
  const SimulationResult result =
      result_of(R"({"settings": {"memory_budget": 1000, "eviction_min_idle": "4s"}})"
                "\n" +
                two +
                R"({"job": "a"})"
                "\n"
                R"({"job": "b", "at": "1s"})");
  CHECK(times_of(result) == Times{{1, 3}, {8, 10}});
  CHECK(result.evictions == 1);
  CHECK(result.loads == 2);
  CHECK(result.peak_bytes == 1000);
}

TEST_CASE("what can never fit and what finds the queue full is refused") {
  const SimulationResult result =
      result_of(R"({"settings": {"memory_budget": 1000, "job_queue_capacity": 2}})"
                "\n" +
                kWarm +
                R"({"circuit": "large", "partition_bytes": 1001})"
                "\n"
                R"({"jobs": "c", "count": 5, "from": "1s"})"
                "\n"
                R"({"job": "large"})");
  CHECK(result.refused_impossible == 1);
  CHECK(result.refused_queue_full == 2);
  CHECK(times_of(result)[1] == std::pair<double, double>{1, 12});
}

TEST_CASE("batches start when they are full or old") {
  const SimulationResult result = result_of(
      R"({"settings": {"memory_budget": 1000, "max_batch_size": 2, "max_batch_wait": "60s"}})"
      "\n" +
      kWarm + R"({"jobs": "c", "count": 3, "every": "20s"})");
  CHECK(times_of(result) == Times{{20, 31}, {21, 41}, {100, 111}});
}

TEST_CASE("a job of low priority starts within its bound though urgent work never ends") {
  const SimulatedLoad load =
      load_of(R"({"settings": {"memory_budget": 1000, "starvation_limit": "100s"}})"
              "\n" +
              kWarm +
              R"({"jobs": "c", "count": 100, "every": "5s", "priority": "high"})"
              "\n"
              R"({"job": "c", "at": "50s", "priority": "low"})");
  const SimulationResult result = simulate(load);
  for (std::size_t i = 0; i < load.jobs.size(); ++i) {
    if (load.jobs[i].priority != shm::Priority::kLow) continue;
    CHECK(result.jobs[i].started_ns >= 150 * kSecond);
    CHECK(result.jobs[i].started_ns <= (150 + 10) * kSecond);
  }
}

std::string thousand_jobs() {
  return R"({"settings": {"memory_budget": "4GiB", "max_batch_size": 2, )"
         R"("job_queue_capacity": 512}})"
         "\n"
         R"({"devices": 2})"
         "\n"
         R"({"circuit": "a", "key_bytes": "2GiB", "partition_bytes": "500MiB", "load": "20s", )"
         R"("synthesize": "2s", "start": "1s", "finish": "3s", "verify": "10ms"})"
         "\n"
         R"({"circuit": "b", "key_bytes": "2GiB", "partition_bytes": "300MiB", "load": "10s", )"
         R"("synthesize": "1s", "start": "1s", "finish": "1s", "verify": "10ms"})"
         "\n"
         R"({"jobs": "a", "count": 600, "every": "9s", "seed": 1, "priority": "low"})"
         "\n"
         R"({"jobs": "b", "count": 390, "every": "20s", "seed": 2, "partitions": 2})"
         "\n"
         R"({"jobs": "b", "count": 10, "every": "300s", "seed": 3, "priority": "critical", )"
         R"("deadline": "60s"})";
}

TEST_CASE("a thousand jobs all end, within the budget, and twice the same") {
  const SimulatedLoad load = load_of(thousand_jobs());
  const SimulationResult result = simulate(load);
  REQUIRE(result.jobs.size() == 1000);
  for (std::size_t i = 0; i < load.jobs.size(); ++i) {
    if (result.jobs[i].state != SimulatedEnd::State::kDone) continue;
    REQUIRE(result.jobs[i].started_ns >= load.jobs[i].at_ns);
    REQUIRE(result.jobs[i].finished_ns > result.jobs[i].started_ns);
  }
  CHECK(result.peak_bytes <= std::uint64_t{4} << 30);
  CHECK(result.evictions > 0);
  CHECK(result.device_busy_ns <= 2 * result.end_ns);
  CHECK(simulation_json(load, result) == simulation_json(load, simulate(load)));
  const auto shown = boost::json::parse(simulation_json(load, result)).as_object();
  std::uint64_t done = 0;
  for (const auto& priority : shown.at("priorities").as_object()) {
    done += priority.value().at("done").to_number<std::uint64_t>();
  }
  CHECK(done + shown.at("refused_queue_full").to_number<std::uint64_t>() == 1000);
  CHECK(shown.at("loads").to_number<std::uint64_t>() == result.loads);
  CHECK_THAT(simulation_text(load, result), Contains("critical") && Contains("peak memory"));
}

TEST_CASE("waits and misses are reported by priority") {
  const SimulatedLoad load =
      load_of(kBudget + kWarm + R"({"jobs": "c", "count": 3, "deadline": "25s", "partitions": 1})");
  const auto shown =
      boost::json::parse(simulation_json(load, simulate(load))).at("priorities").at("normal");
  CHECK(shown.at("jobs").to_number<int>() == 3);
  CHECK(shown.at("deadlines_missed").to_number<int>() == 1);  // ends at 11, 21 and 31 s
  CHECK(shown.at("wait").at("p50_ns").to_number<std::uint64_t>() == kSecond);
  CHECK(shown.at("life").at("max_ns").to_number<std::uint64_t>() == 31 * kSecond);
}

TEST_CASE("a bad load is refused with its line and the rule") {
  const struct {
    const char* line;
    const char* complaint;
  } bad[] = {
      {"[1]", "expected one JSON object"},
      {"{\"job\": \"c\"", "not JSON: incomplete JSON"},
      {R"({"job": "c", "at": "1s", "at": "2s"})", "member 'at' is given twice"},
      {R"({"settings": {"key_loaders": 1, "key_loaders": 2}})", "'key_loaders' is given twice"},
      {"{}", "expected a member settings, devices, circuit, job or jobs"},
      {R"({"job": "other"})", "no circuit 'other' in the lines before"},
      {R"({"job": "c", "when": "1s"})", "unknown member 'when'"},
      {R"({"job": "c", "at": 5})", "at: expected a duration"},
      {R"({"job": "c", "partitions": 257})", "partitions: expected a number from 1 to 256"},
      {R"({"job": "c", "partitions": -1})", "partitions: expected a number"},
      {R"({"job": "c", "priority": "urgent"})", "priority: expected low, normal, high or critical"},
      {R"({"jobs": "c", "count": 0})", "count: expected a number from 1"},
      {R"({"jobs": "c", "count": 1000000, "every": "1h"})", "over more than a year"},
      {R"({"circuit": "c"})", "circuit 'c' is there already"},
      {R"({"circuit": ""})", "an id is 1 to 32"},
      {R"({"circuit": "d", "key_bytes": "much"})", "key_bytes: expected a size"},
      {R"({"circuit": "d", "freed_bytes": 1})", "freed_bytes: more than partition_bytes"},
      {R"({"circuit": "d", "keep_resident": 1})", "keep_resident: expected true or false"},
      {R"({"devices": 0})", "devices: expected a number from 1 to 16"},
      {R"({"settings": {"socket": "x"}})", "settings: 'socket' is not simulated"},
      {R"({"settings": {"key_loaders": 99}})", "settings: key_loaders: expected a number"},
      {R"({"settings": 1})", "settings: expected an object alone"},
  };
  for (const auto& [line, complaint] : bad) {
    INFO(line);
    const auto load = parse_simulated_load(kBudget + "\n" + kWarm + line + "\n", "name");
    REQUIRE_FALSE(load.has_value());
    CHECK_THAT(load.error().text, Contains("name line 4: ") && Contains(complaint));
  }
  CHECK_THAT(parse_simulated_load("", "name").error().text, Contains("memory_budget is missing"));
  CHECK_THAT(
      parse_simulated_load(R"({"settings": {"memory_budget": "auto"}})", "name").error().text,
      Contains("name line 1: settings: memory_budget: expected a size"));
}

}  // namespace
}  // namespace vitrine::engine::testing
