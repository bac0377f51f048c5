// SPDX-License-Identifier: Apache-2.0
// Clients that keep their place without using it, and what they may not do: lock others out.
#include <thread>

#include "tests/engine/api_fixture.h"

namespace vitrine::engine::testing {
namespace {

using namespace std::chrono_literals;
using Catch::Matchers::Contains;

const std::string kHalfHead = "GET /v1/jobs HTTP/1.1\r\nHost: ";

TEST_CASE("connections without a request make room for those with one") {
  ApiFixture api;
  const ScratchFolder scratch;
  const auto path = scratch / "s";
  const auto server = api.serve(path, {.head_patience = 1h, .crowding_told_every = 1h});
  std::vector<HeldConnection> held;
  for (unsigned i = 0; i < ApiServer::kConnectionsMax + 40; ++i) held.emplace_back(path, kHalfHead);
  for (unsigned i = 0; i < 20; ++i) {
    CHECK(ApiClient(path).send("POST", i % 2 == 0 ? "/v1/pause" : "/v1/resume", "", "").status ==
          202);
  }
  // The first ones had to go, and were told.
  for (unsigned i = 0; i < 40; ++i) {
    const ApiAnswer gone = held.at(i).answer();
    CHECK(gone.status == 503);
    CHECK(gone.header("Retry-After") == "1");
    CHECK_THAT(detail_of(gone), Contains("too many connections"));
  }
  api.engine().await([&] { return !api.warnings().empty(); });
  CHECK_THAT(api.warnings().at(0), Contains("connections without a whole request, refused 0"));
  // The newest of them is still there, and may go on.
  CHECK(HeldConnection(path, "GET /v1/circuits HTTP/1.1\r\nConnection: close\r\n\r\n")
            .answer()
            .status == 200);
  CHECK(api.warnings().size() == 1);
}

TEST_CASE("requests that wait leave room for those that do not") {
  ApiFixture api;
  const ApiClient client = api.client();
  REQUIRE(client.send("POST", "/v1/pause", "", "").status == 202);
  const ApiAnswer accepted = client.post_form("/v1/jobs?circuit=demo", {witness(1)});
  const std::string job = "/v1/jobs/" + text_of(json::parse(accepted.body).as_object(), "job");
  // A look that comes before one of these takes its place, which is then refused: so there are more
  // until none has a place.
  std::vector<HeldConnection> waiting;
  const auto wait = [&] {
    waiting.emplace_back(api.socket(),
                         "GET " + job + "?wait=60s HTTP/1.1\r\nConnection: close\r\n\r\n");
  };
  while (waiting.size() < ApiServer::kLongRequestsMax) wait();
  ApiAnswer refused;
  api.engine().await([&] {
    refused = client.get(job + "?wait=1ms");
    if (refused.status == 200) wait();
    return refused.status != 200;
  });
  CHECK(refused.status == 503);
  CHECK(refused.header("Retry-After") == "1");
  CHECK_THAT(detail_of(refused), Contains("waiting requests"));
  api.engine().await([&] { return !api.warnings().empty(); });
  CHECK_THAT(api.warnings().at(0), Contains("closed 0") && Contains("refused "));
  CHECK(client.get(job).status == 200);
  CHECK(client.send("POST", "/v1/resume", "", "").status == 202);
  const auto served = std::ranges::count_if(
      waiting, [](const HeldConnection& one) { return one.answer().status == 200; });
  CHECK(served + 1 >= ApiServer::kLongRequestsMax);  // a look that is over may still count
  CHECK(client.post_form("/v1/jobs?circuit=demo", {witness(1)}).status == 202);
}

TEST_CASE("a body that comes too slowly ends its connection, and leaves no file") {
  ApiFixture api;
  const ScratchFolder scratch;
  const auto server = api.serve(scratch / "s", {.body_patience = 100ms});
  const std::string type = "Content-Type: application/octet-stream\r\n";
  for (const std::string& head :
       {"POST /v1/jobs?circuit=demo HTTP/1.1\r\n" + type + "Content-Length: 100000\r\n\r\n",
        "POST /v1/jobs?circuit=demo HTTP/1.1\r\n" + type +
            "Transfer-Encoding: chunked\r\n\r\n10000\r\n",
        // Refused, though its body is taken.
        std::string("POST /v1/other HTTP/1.1\r\nContent-Length: 100000\r\n\r\n")}) {
    INFO(head);
    CHECK(ApiClient(scratch / "s").drip(head) == 0);
  }
  api.await_empty_spool();
  CHECK(api.client().post_form("/v1/jobs?circuit=demo", {witness(1)}).status == 202);
}

TEST_CASE("a target or head that is too long is refused as everything is") {
  ApiFixture api;
  const ApiClient client = api.client();
  for (const std::size_t size : {9u << 10, 40u << 10, 200u << 10}) {
    const std::string much(size, 'a');
    const ApiAnswer target = client.get("/v1/jobs?state=" + much);
    CHECK(target.status == 414);
    CHECK(detail_of(target) == "the target is longer than 8.0 KiB");
    CHECK(client.get("/" + much).status == 414);
  }
  for (const std::size_t size : {40u << 10, 200u << 10}) {
    const ApiAnswer head = client.raw(
        "GET /v1/jobs HTTP/1.1\r\nConnection: close\r\nX: " + std::string(size, 'a') + "\r\n\r\n");
    CHECK(head.status == 431);
    CHECK(detail_of(head) == "the head is longer than 32.0 KiB");
  }
  CHECK(client.get("/v1/jobs").status == 200);
}

}  // namespace
}  // namespace vitrine::engine::testing
