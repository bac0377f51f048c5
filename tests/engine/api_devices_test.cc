// SPDX-License-Identifier: Apache-2.0
// Devices over the API.
#include "tests/engine/api_fixture.h"
#include "tests/engine/device_scripts.h"

namespace vitrine::engine::testing {
namespace {

using Catch::Matchers::Contains;

json::object first_device(const ApiClient& client) {
  const ApiAnswer answer = client.get("/v1/devices");
  REQUIRE(answer.status == 200);
  return json::parse(answer.body).as_object().at("devices").as_array().at(0).as_object();
}

TEST_CASE("a quarantined device is shown with its reason and released over the API") {
  ApiFixture api([](ScriptedStage stage, unsigned call) {
    return stage == ScriptedStage::kVerify && call < 3 ? wrong_proof() : Result<void>();
  });
  const ApiClient client = api.client();
  CHECK(text_of(first_device(client), "state") == "up");
  CHECK(first_device(client).at("takes_work").as_bool());
  for (int i = 0; i < 3; ++i) api.engine().final_status(api.engine().submitted("demo", 1));
  const json::object quarantined = first_device(client);
  CHECK(text_of(quarantined, "state") == "quarantined");
  CHECK_FALSE(quarantined.at("takes_work").as_bool());
  CHECK_THAT(text_of(quarantined, "fault"), Contains("3 invalid proofs"));
  const ApiAnswer released = client.send("POST", "/v1/devices/0/release", "", "");
  CHECK(released.status == 200);
  CHECK(text_of(json::parse(released.body).as_object(), "state") == "up");
  CHECK_FALSE(first_device(client).contains("fault"));
}

TEST_CASE("requests about devices that are not understood are refused") {
  ApiFixture api;
  const ApiClient client = api.client();
  CHECK(client.send("POST", "/v1/devices/7/release", "", "").status == 404);
  for (const char* path : {"/v1/devices/", "/v1/devices/0", "/v1/devices//release",
                           "/v1/devices/x/release", "/v1/devices/0/release/", "/v1/devicesrelease",
                           "/v1/devices/-1/release", "/v1/devices/release"}) {
    INFO(path);
    CHECK(client.send("POST", path, "", "").status == 404);
  }
  CHECK(client.send("POST", "/v1/devices", "", "").status == 405);
  CHECK(client.get("/v1/devices/0/release").status == 405);
  const ApiAnswer unknown = client.get("/v1/devices?colour=red");
  CHECK(unknown.status == 400);
  CHECK_THAT(detail_of(unknown), Contains("'colour'"));
}

}  // namespace
}  // namespace vitrine::engine::testing
