// SPDX-License-Identifier: Apache-2.0
#include "exporters/http_request_rules.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace vitrine::exporters::testing {

namespace {

RequestHead get(const std::string& target, std::vector<Header> headers = {{"Host", "localhost"}}) {
  return RequestHead{"GET", target, "HTTP/1.1", std::move(headers), "127.0.0.1"};
}

int malformed_status(const RequestHead& head) {
  const auto refusal = refuse_malformed(head);
  return refusal ? refusal->status : 200;
}

int foreign_status(std::vector<Header> headers, const std::string& reached = "127.0.0.1") {
  RequestHead head = get("/status", std::move(headers));
  head.local_address = reached;
  const auto refusal = refuse_foreign(head, RequestRules{{"prover.example"}});
  return refusal ? refusal->status : 200;
}

}  // namespace

TEST_CASE("only GET and HEAD are served") {
  RequestHead head = get("/status");
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get", ""}) {
    head.method = method;
    CHECK(malformed_status(head) == 405);
  }
  for (const char* method : {"GET", "HEAD"}) {
    head.method = method;
    CHECK(malformed_status(head) == 200);
  }
}

TEST_CASE("a target that could mean two things is refused") {
  for (const char* target :
       {"", "*", "status", "http://localhost/status", "/status%00", "/status%00/x", "/a%", "/a%4",
        "/a%zz", "/a b", "/a#b", "/a\\b", "/a\x01", "/\xC3\xA9"}) {
    INFO(target);
    CHECK(malformed_status(get(target)) == 400);
  }
  for (const char* target : {"/", "/status", "/status?a=b&c=%41", "//x", "/a%2Fb"}) {
    INFO(target);
    CHECK(malformed_status(get(target)) == 200);
  }
}

TEST_CASE("any sign of a body is refused") {
  const auto with = [](std::vector<Header> headers) {
    headers.push_back({"Host", "localhost"});
    return malformed_status(get("/status", std::move(headers)));
  };
  CHECK(with({{"Content-Length", "0"}}) == 200);
  CHECK(with({{"Content-Length", "5"}}) == 400);
  CHECK(with({{"content-length", "+0"}}) == 400);
  CHECK(with({{"Content-Length", "0"}, {"Content-Length", "0"}}) == 400);
  CHECK(with({{"Transfer-Encoding", "chunked"}}) == 400);
  CHECK(with({{"Transfer-Encoding", "identity"}, {"Content-Length", "0"}}) == 400);
  CHECK(with({{"Content-Length5", ""}}) == 400);  // what the library makes of a folded line
  CHECK(with({{"Content-Length ", "5"}}) == 400);
}

TEST_CASE("a request has one Host") {
  CHECK(malformed_status(get("/", {{"Host", "localhost"}, {"host", "localhost"}})) == 400);
  RequestHead head = get("/", {});
  CHECK(malformed_status(head) == 400);
  head.version = "HTTP/1.0";
  CHECK(malformed_status(head) == 200);
  CHECK(refuse_foreign(head, {}).value().status == 400);
}

TEST_CASE("only the site's own hosts are served, against pages that rebind a name") {
  const auto host = [](const char* name) { return foreign_status({{"Host", name}}); };
  for (const char* name : {"localhost", "localhost:9821", "LOCALHOST.", "127.0.0.1", "127.0.0.1:80",
                           "[::1]:9821", "[0:0::1]", "prover.example", "Prover.Example:443"}) {
    INFO(name);
    CHECK(host(name) == 200);
  }
  for (const char* name :
       {"evil.example", "evil.example:9821", "localhost.evil.example", "", "127.0.0.1.evil.example",
        "10.0.0.7", "[::1", "[::1]evil", ".", "0.0.0.0", "2130706433", "localhost@evil.example"}) {
    INFO(name);
    CHECK(host(name) == 421);
  }
}

TEST_CASE("the address that the client reached is a host of the site") {
  CHECK(foreign_status({{"Host", "10.0.0.7:9821"}}, "10.0.0.7") == 200);
  CHECK(foreign_status({{"Host", "10.0.0.8:9821"}}, "10.0.0.7") == 421);
  CHECK(foreign_status({{"Host", "[fd00:0::7]:9821"}}, "fd00::7") == 200);
}

TEST_CASE("any Host may stand on a Unix socket, since no browser gets there") {
  CHECK(foreign_status({{"Host", "anything"}}, "") == 200);
}

TEST_CASE("pages of another origin may not read") {
  const auto origin = [](const char* value) {
    return foreign_status({{"Host", "localhost:9821"}, {"Origin", value}});
  };
  CHECK(origin("http://localhost:9821") == 200);
  CHECK(origin("https://prover.example") == 200);
  for (const char* value : {"http://evil.example", "http://localhost:3000", "http://localhost",
                            "null", "", "localhost:9821"}) {
    INFO(value);
    CHECK(origin(value) == 403);
  }
  CHECK(foreign_status({{"Host", "localhost"},
                        {"Origin", "http://localhost"},
                        {"Origin", "http://evil.example"}}) == 403);
}

}  // namespace vitrine::exporters::testing
