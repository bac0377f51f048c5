// SPDX-License-Identifier: Apache-2.0
#include "engine/forecast.h"

#include <catch2/catch.hpp>

namespace vitrine::engine {
namespace {

using Ends = std::vector<std::uint64_t>;
using Place = ForecastWork::Place;

constexpr std::uint64_t kNow = 1'000;

// A circuit whose partitions take 10 before, 100 on the device and 5 after it; its key is there.
ForecastFacts facts_of(std::vector<ForecastJob> jobs, std::vector<ForecastWork> work = {}) {
  ForecastFacts facts;
  facts.now_ns = kNow;
  facts.slots = 1;
  facts.devices = 1;
  facts.circuits = {{{10, 100, 5}, kNow}};
  facts.jobs = std::move(jobs);
  facts.work = std::move(work);
  return facts;
}

}  // namespace

TEST_CASE("a job alone takes its stages one after the other") {
  CHECK(forecast_ends(facts_of({{0, 1}})) == Ends{kNow + 115});
  CHECK(forecast_ends(facts_of({{0, 3}})) == Ends{kNow + 315});
}

TEST_CASE("jobs end in the order of the line, each after what stands before it") {
  CHECK(forecast_ends(facts_of({{0, 1}, {0, 2}, {0, 1}})) ==
        Ends{kNow + 115, kNow + 315, kNow + 415});
}

TEST_CASE("work that has begun counts from where it is") {
  CHECK(forecast_ends(facts_of({{0, 0}}, {{Place::kDevice, 0, kNow - 60}})) == Ends{kNow + 45});
  CHECK(forecast_ends(facts_of({{0, 0}}, {{Place::kQueue, 0, kNow - 60}})) == Ends{kNow + 105});
  CHECK(forecast_ends(facts_of({{0, 0}}, {{Place::kSlot, 0, kNow - 4}})) == Ends{kNow + 111});
  // On the device, before it and pending, of two jobs.
  CHECK(forecast_ends(
            facts_of({{0, 1}, {0, 1}}, {{Place::kSlot, 0, kNow}, {Place::kDevice, 0, kNow}})) ==
        Ends{kNow + 305, kNow + 405});
}

TEST_CASE("work that takes longer than it used to is expected to end now") {
  CHECK(forecast_ends(facts_of({{0, 0}}, {{Place::kDevice, 0, kNow - 500}})) == Ends{kNow + 5});
}

TEST_CASE("devices and slots are shared out") {
  ForecastFacts facts = facts_of({{0, 4}});
  facts.devices = 2;
  CHECK(forecast_ends(facts) == Ends{kNow + 225});  // the second device waits for its synthesis
  facts.slots = 2;
  CHECK(forecast_ends(facts) == Ends{kNow + 215});
  facts.circuits[0].pace.cpu_ns = 1'000;  // now the slots are what is scarce
  CHECK(forecast_ends(facts) == Ends{kNow + 2'105});
}

TEST_CASE("a key that is being loaded is waited for") {
  ForecastFacts facts = facts_of({{0, 1}});
  facts.circuits[0].key_ready_ns = kNow + 700;
  CHECK(forecast_ends(facts) == Ends{kNow + 815});
}

TEST_CASE("what was never measured is unknown, and so is what stands behind it") {
  ForecastFacts facts = facts_of({{0, 1}, {1, 1}, {0, 1}});
  facts.circuits.push_back({{}, kNow});
  CHECK(forecast_ends(facts) == Ends{kNow + 115, 0, 0});
  facts.circuits[1] = {{10, 100, 5}, 0};  // a key that was never loaded
  CHECK(forecast_ends(facts) == Ends{kNow + 115, 0, 0});
}

TEST_CASE("in a pause and without a device only what is under way has an end") {
  ForecastFacts facts = facts_of({{0, 0}, {0, 1}}, {{Place::kDevice, 0, kNow}});
  facts.is_paused = true;
  CHECK(forecast_ends(facts) == Ends{kNow + 105, 0});
  facts.is_paused = false;
  facts.devices = 0;
  CHECK(forecast_ends(facts) == Ends{0, 0});
}

TEST_CASE("a pace follows what changes, and the first measurement stands alone") {
  PartitionPace pace;
  CHECK_FALSE(pace.is_known());
  pace.learn({80, 800, 8});
  CHECK((pace.cpu_ns == 80 && pace.device_ns == 800 && pace.rest_ns == 8));
  pace.learn({160, 1'600, 16});
  CHECK((pace.cpu_ns == 90 && pace.device_ns == 900 && pace.rest_ns == 9));
  pace.learn({0, 0, 0});
  CHECK(pace.is_known());
}

}  // namespace vitrine::engine
