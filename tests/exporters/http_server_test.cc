// SPDX-License-Identifier: Apache-2.0
#include "exporters/http_server.h"

#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "shm/clock.h"
#include "tests/exporters/raw_client.h"
#include "tests/exporters/served_site.h"
#include "tests/shm/small_segment.h"

namespace vitrine::exporters::testing {

namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

// A site without an engine: enough for everything about requests.
struct Fixture {
  SharedScratchFolder directory;
  ServedSite site{directory / "no.segment"};

  RawAnswer ask(const std::string& request) { return RawClient(site.port()).ask(request); }
};

void wait_for_connections(const HttpServer& server, std::size_t count) {
  const std::uint64_t deadline_ns = shm::monotonic_ns() + 20 * kSecondNs;
  while (server.connection_count() != count && shm::monotonic_ns() < deadline_ns) {
    std::this_thread::yield();
  }
  REQUIRE(server.connection_count() == count);
}

}  // namespace

TEST_CASE("an answer says what it is and is never kept or guessed at") {
  Fixture fixture;
  const RawAnswer answer = fixture.ask(get_request("/livez"));
  CHECK(answer.status == 200);
  CHECK(answer.body == "alive\n");
  CHECK(answer.header("Content-Type") == "text/plain; charset=utf-8");
  CHECK(answer.header("Cache-Control") == "no-store");
  CHECK(answer.header("X-Content-Type-Options") == "nosniff");
  CHECK(answer.header("Content-Security-Policy").find("default-src 'none'") == 0);
  CHECK(answer.header("Access-Control-Allow-Origin").empty());
}

TEST_CASE("HEAD gives the same head as GET and no body") {
  Fixture fixture;
  const RawAnswer got = fixture.ask(get_request("/livez"));
  RawClient client(fixture.site.port());
  client.send("HEAD /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const RawAnswer head = client.read_answer("HEAD");
  CHECK(head.status == 200);
  CHECK(head.header("Content-Length") == got.header("Content-Length"));
  CHECK(head.header("Content-Type") == got.header("Content-Type"));
  CHECK(client.ask(get_request("/livez")).status == 200);  // nothing of a body was in between
}

TEST_CASE("a connection serves many requests, also when they come at once") {
  Fixture fixture;
  RawClient client(fixture.site.port());
  client.send(get_request("/livez") + get_request("/nothing") + get_request("/livez"));
  CHECK(client.read_answer().status == 200);
  CHECK(client.read_answer().status == 404);
  CHECK(client.read_answer().status == 200);
}

TEST_CASE("a request in single bytes is a request") {
  Fixture fixture;
  RawClient client(fixture.site.port());
  for (const char byte : get_request("/livez")) client.send({&byte, 1});
  CHECK(client.read_answer().status == 200);
}

TEST_CASE("what could mean two things is answered once and ends the connection") {
  Fixture fixture;
  const std::string hidden = get_request("/livez");
  const std::string host = "Host: localhost\r\n";
  const auto [request, status] = GENERATE_COPY(table<std::string, int>({
      {get_request("/livez", "Content-Length: 5\r\n") + "hello" + hidden, 400},
      {get_request("/livez", "Content-Length: 5\r\n"), 400},
      {get_request("/livez", "Content-Length: 1\r\nExpect: 100-continue\r\n"), 400},
      {get_request("/livez", "Transfer-Encoding: chunked\r\n") + "0\r\n\r\n" + hidden, 400},
      {get_request("/livez", "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n") + "0\r\n\r\n" +
           hidden,
       400},
      {get_request("/livez", "Content-Length: 0\r\nContent-Length: 5\r\n") + "hello", 400},
      {get_request("/livez", "Content-Length:\r\n 5\r\n") + "hello" + hidden, 400},
      {get_request("/livez", "Content-Length : 5\r\n") + "hello" + hidden, 400},
      {get_request("/livez", host) + hidden, 400},
      {"GET /livez HTTP/1.1\r\n\r\n" + hidden, 400},
      {"GET /status HTTP/1.0\r\n\r\n", 400},
      {get_request("/status%00/x") + hidden, 400},
      {get_request("http://localhost/livez") + hidden, 400},
      {get_request("*") + hidden, 400},
      {get_request("/livez", "X: " + std::string(65536, 'a') + "\r\n"), 431},
      {"POST /livez HTTP/1.1\r\n" + host + "\r\n", 405},
      {"POST /livez HTTP/1.1\r\n" + host + "Content-Length: 5\r\n\r\nhello" + hidden, 405},
      {"OPTIONS * HTTP/1.1\r\n" + host + "\r\n", 405},
  }));
  INFO(request.substr(0, 200));
  RawClient client(fixture.site.port());
  const RawAnswer answer = client.ask(request);
  CHECK(answer.status == status);
  if (status == 405) CHECK(answer.header("Allow") == "GET, HEAD");
  CHECK(client.is_ended());
}

TEST_CASE("pages of other sites get nothing") {
  Fixture fixture;
  for (const char* target : {"/", "/status", "/api/v1/snapshot", "/nothing"}) {
    INFO(target);
    const std::string evil_host =
        "GET " + std::string(target) + " HTTP/1.1\r\nHost: evil.example\r\n\r\n";
    CHECK(fixture.ask(evil_host).status == 421);
    CHECK(fixture.ask(get_request(target, "Origin: http://evil.example\r\n")).status == 403);
  }
  CHECK(fixture.ask("GET /livez HTTP/1.1\r\nHost: evil.example\r\n\r\n").status == 200);
}

TEST_CASE("a client that sends its head too slowly is cut off") {
  Fixture fixture;
  RawClient slow(fixture.site.port());
  slow.send("GET /livez HTTP/1.1\r\nHost: loc");
  wait_for_connections(fixture.site.server(), 1);
  fixture.site.server().shut_down_late(shm::monotonic_ns() + 6 * kSecondNs);
  CHECK(slow.is_ended());
  wait_for_connections(fixture.site.server(), 0);
  CHECK(fixture.ask(get_request("/livez")).status == 200);
}

TEST_CASE("idle connections never keep an honest client out") {
  SharedScratchFolder directory;
  ConnectionLimits limits;
  limits.connections = 8;
  limits.accepted = 16;
  ServedSite site(directory / "no.segment", limits);
  std::vector<RawClient> idle;
  for (int i = 0; i < 200; ++i) {
    idle.emplace_back(site.port());
    idle.back().send("GET /livez HT");
  }
  CHECK(RawClient(site.port()).ask(get_request("/livez")).status == 200);
}

TEST_CASE("clients that do not take their answers cost the next one a 503, not silence") {
  SharedScratchFolder directory;
  ConnectionLimits limits;
  limits.connections = 2;
  std::string large(64 << 20, 'x');
  const auto answer = std::make_shared<const Response>(Response{200, "text/plain", {}, large});
  auto sockets = bind_any_port();
  const std::uint16_t port = sockets.front().address().port;
  const HttpServer server =
      HttpServer::start(
          std::move(sockets), [&](const RequestHead&) { return answer; }, limits)
          .value();
  std::vector<RawClient> stuck;
  for (int i = 0; i < 2; ++i) {
    stuck.emplace_back(port);
    stuck.back().send(get_request("/"));
    // The head alone: one that still waits for an answer would be the one that makes room.
    REQUIRE(stuck.back().read_answer("HEAD").status == 200);
  }
  const RawAnswer refused = RawClient(port).ask(get_request("/"));
  CHECK(refused.status == 503);
  CHECK(refused.header("Retry-After") == "1");
}

}  // namespace vitrine::exporters::testing
