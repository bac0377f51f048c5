// SPDX-License-Identifier: Apache-2.0
// Circuits over the API.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/engine/api_fixture.h"

namespace vitrine::engine::testing {
namespace {

using Catch::Matchers::Contains;

json::object circuit(const ApiFixture& api, const std::string& id) {
  const ApiAnswer answer = api.client().get("/v1/circuits");
  REQUIRE(answer.status == 200);
  const json::value document = json::parse(answer.body);
  for (const json::value& one : document.at("circuits").as_array()) {
    if (one.at("circuit").as_string() == id) return one.as_object();
  }
  FAIL("no circuit " << id);
  return {};
}

ApiAnswer order(const ApiFixture& api, const std::string& path) {
  return api.client().send("POST", path, "", "");
}

void await_state(ApiFixture& api, const std::string& id, const std::string& state) {
  api.engine().await([&] { return text_of(circuit(api, id), "state") == state; });
}

TEST_CASE("a circuit is shown with its key's state, bytes, uses, pin and priority") {
  const std::string digest(64, '0');
  ApiFixture api({}, [&](EngineOptions& options) {
    options.configuration.circuits[1].digest = digest;
    options.configuration.circuits[1].priority = shm::Priority::kHigh;
  });
  const json::object plain = circuit(api, "demo");
  CHECK(text_of(plain, "state") == "absent");
  CHECK(text_of(plain, "digest").empty());
  CHECK(text_of(plain, "priority") == "normal");
  CHECK_THAT(text_of(plain, "zkey"), Contains("demo/circuit.zkey"));
  for (const char* name : {"key_bytes", "references", "jobs", "hits", "misses", "loads"}) {
    INFO(name);
    CHECK(plain.at(name).to_number<int>() == 0);
  }
  CHECK_FALSE(plain.at("retired").as_bool());
  CHECK(text_of(circuit(api, "multiplier"), "digest") == digest);
  CHECK(text_of(circuit(api, "multiplier"), "priority") == "high");
}

TEST_CASE("a key is loaded and dropped over the API") {
  ApiFixture api;
  const ApiAnswer begun = order(api, "/v1/circuits/demo/preload");
  CHECK(begun.status == 202);
  CHECK(text_of(json::parse(begun.body).as_object(), "circuit") == "demo");
  await_state(api, "demo", "ready");
  CHECK(circuit(api, "demo").at("key_bytes").to_number<int>() > 0);
  CHECK(order(api, "/v1/circuits/demo/preload").status == 200);
  CHECK(order(api, "/v1/circuits/demo/evict").status == 202);
  await_state(api, "demo", "absent");
  CHECK(order(api, "/v1/circuits/demo/evict").status == 200);
}

TEST_CASE("a key that is used is not dropped, and the answer says by how many") {
  Gate gate;
  ApiFixture api([&](ScriptedStage stage, unsigned call) -> Result<void> {
    if (stage == ScriptedStage::kSynthesize && call == 0) gate.pass();
    return {};
  });
  const JobId job = api.engine().submitted("demo", 1);
  gate.await_arrivals(1);
  const ApiAnswer refused = order(api, "/v1/circuits/demo/evict");
  CHECK(refused.status == 409);
  CHECK(detail_of(refused) == "circuit demo: 1 job and 1 partition use it");
  gate.open();
  api.engine().final_status(job);
}

TEST_CASE("a key is verified beside the one in use, and the answer has its digest") {
  Gate gate;
  ApiFixture api([&](ScriptedStage stage, unsigned call) -> Result<void> {
    if (stage == ScriptedStage::kSynthesize && call == 0) gate.pass();
    return {};
  });
  const JobId job = api.engine().submitted("demo", 2);
  gate.await_arrivals(1);
  const ApiAnswer verified = order(api, "/v1/circuits/demo/verify");
  CHECK(verified.status == 200);
  const std::string digest = text_of(json::parse(verified.body).as_object(), "digest");
  CHECK(digest.size() == 64);
  CHECK(order(api, "/v1/circuits/bls/verify").status == 200);
  CHECK(text_of(circuit(api, "bls"), "state") == "absent");
  gate.open();
  CHECK(api.engine().final_status(job).record.state == shm::JobState::kDone);
  CHECK(circuit(api, "demo").at("loads").to_number<int>() == 1);
}

TEST_CASE("a key that is not good is told by its verification, wherever it is not") {
  const ScratchFolder scratch;
  const auto good = circuit_folder("bn128", "demo") / "circuit.zkey";
  std::uint32_t section = 0;
  SECTION("a point of A") { section = 5; }
  SECTION("a point of B1") { section = 6; }
  SECTION("a point of B2") { section = 7; }
  SECTION("a point of L") { section = 8; }
  SECTION("a point of H") { section = 9; }
  SECTION("a coefficient") { section = 4; }
  ContainerBytes key(good);
  // The top bits of the first value: of a coefficient that is its matrix.
  key.flip_bit(8 * (key.section(section).begin + (section == 4 ? 7 : 31)) + 5);
  key.write(scratch / "bad.zkey");
  ApiFixture api({}, [&](EngineOptions& options) {
    options.configuration.circuits.push_back({"bad", scratch / "bad.zkey", "bad", false, false});
  });
  const ApiAnswer refused = order(api, "/v1/circuits/bad/verify");
  CHECK(refused.status == 422);
  CHECK_THAT(detail_of(refused),
             Contains("bad.zkey") && Contains("section " + std::to_string(section)));
}

TEST_CASE("a key that is not the pinned one is told by its verification") {
  const std::string pin(64, 'b');
  ApiFixture api({},
                 [&](EngineOptions& options) { options.configuration.circuits[0].digest = pin; });
  const ApiAnswer refused = order(api, "/v1/circuits/demo/verify");
  CHECK(refused.status == 422);
  CHECK_THAT(detail_of(refused), Contains("circuit.zkey") && Contains(pin));
}

TEST_CASE("orders that are not understood are refused by name") {
  ApiFixture api;
  CHECK(order(api, "/v1/circuits/nobody/preload").status == 404);
  CHECK(order(api, "/v1/circuits/nobody/evict").status == 404);
  CHECK(order(api, "/v1/circuits/nobody/verify").status == 404);
  CHECK(order(api, "/v1/circuits/demo/polish").status == 404);
  CHECK(order(api, "/v1/circuits/demo").status == 404);
  CHECK(order(api, "/v1/circuits//preload").status == 404);
  CHECK(order(api, "/v1/circuits/demo/preload?now=true").status == 400);
  CHECK(api.client().get("/v1/circuits/demo/preload").status == 405);
  CHECK(api.client().get("/v1/circuits?all=true").status == 400);
}

TEST_CASE("an engine without configuration files has nothing to reload") {
  ApiFixture api;
  const ApiAnswer refused = order(api, "/v1/reload");
  CHECK(refused.status == 503);
  CHECK_THAT(detail_of(refused), Contains("nothing to reload"));
}

TEST_CASE("a preload that is impossible says why") {
  const ScratchFolder scratch;
  ApiFixture api({}, [&](EngineOptions& options) {
    options.configuration.circuits.push_back({"none", scratch / "no.zkey", "no", false, false});
  });
  const ApiAnswer refused = order(api, "/v1/circuits/none/preload");
  CHECK(refused.status == 422);
  CHECK_THAT(detail_of(refused), Contains("no.zkey"));
}

}  // namespace
}  // namespace vitrine::engine::testing
