// SPDX-License-Identifier: Apache-2.0
#include "exporters/listen_address.h"

#include <catch2/catch.hpp>
#include <string>

namespace vitrine::exporters::testing {

TEST_CASE("a listen address reads back as it was written") {
  for (const char* text : {"127.0.0.1:9821", "[::1]:9821", "0.0.0.0:0", "[fe80::1]:1",
                           "unix:/run/vitrine/http.sock"}) {
    INFO(text);
    CHECK(parse_listen_address(text).value().text() == text);
  }
}

TEST_CASE("only addresses that this machine alone reaches count as loopback") {
  const auto is_loopback = [](const char* text) {
    return parse_listen_address(text).value().is_loopback();
  };
  CHECK(is_loopback("127.0.0.1:1"));
  CHECK(is_loopback("127.9.9.9:1"));
  CHECK(is_loopback("[::1]:1"));
  CHECK(is_loopback("[0:0:0:0:0:0:0:1]:1"));
  CHECK(is_loopback("unix:/tmp/s"));
  CHECK_FALSE(is_loopback("0.0.0.0:1"));
  CHECK_FALSE(is_loopback("192.168.1.2:1"));
  CHECK_FALSE(is_loopback("[::]:1"));
  CHECK_FALSE(is_loopback("[::ffff:127.0.0.1]:1"));
}

TEST_CASE("what is not an address is refused by name, never guessed") {
  const std::string long_path = "unix:/" + std::string(200, 'a');
  const std::string texts[] = {"",
                               "9821",
                               ":9821",
                               "localhost:9821",
                               "127.0.0.1",
                               "127.0.0.1:",
                               "127.0.0.1:65536",
                               "127.0.0.1:-1",
                               "127.0.0.1:1x",
                               "127.1:1",
                               "::1:9821",
                               "[::1]9821",
                               "[127.0.0.1]:1",
                               "unix:",
                               "unix:relative",
                               long_path};
  for (const std::string& text : texts) {
    INFO(text);
    const Result<ListenAddress> address = parse_listen_address(text);
    REQUIRE(address.has_error());
    CHECK(address.error().kind == ErrorKind::kUsage);
    CHECK(address.error().text.find("--listen " + text) == 0);
  }
}

}  // namespace vitrine::exporters::testing
