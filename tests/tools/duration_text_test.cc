// SPDX-License-Identifier: Apache-2.0
#include "tools/duration_text.h"

#include <catch2/catch.hpp>

#include "tools/size_text.h"

using namespace vitrine::tools;

TEST_CASE("a duration is a whole number and a unit", "[duration]") {
  CHECK(*parse_duration_ns("250ms") == 250'000'000);
  CHECK(*parse_duration_ns("5s") == 5'000'000'000);
  CHECK(*parse_duration_ns("10m") == 600'000'000'000);
  CHECK(*parse_duration_ns("2h") == 7'200'000'000'000);
  CHECK(*parse_duration_ns("0s") == 0);
}

TEST_CASE("anything else is refused as a usage error that names it", "[duration]") {
  for (const char* text : {"", "5", "s", "5 s", " 5s", "5s ", "-5s", "+5s", "1.5s", "5sec", "5S",
                           "1m30s", "0x5s", "99999999999999999999s", "999999h", "5ms "}) {
    INFO(text);
    const auto parsed = parse_duration_ns(text);
    REQUIRE(parsed.has_error());
    CHECK(parsed.error().code == ExitCode::kUsage);
    CHECK(parsed.error().text.find(std::string("'") + text + "'") != std::string::npos);
  }
}

TEST_CASE("an age shows its two largest units", "[duration]") {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  CHECK(duration_text(0) == "0ms");
  CHECK(duration_text(53'900'000) == "53ms");
  CHECK(duration_text(4'250'000'000) == "4.2s");
  CHECK(duration_text(59 * kSecond) == "59s");
  CHECK(duration_text(2483 * kSecond) == "41m23s");
  CHECK(duration_text(3605 * kSecond) == "1h00m");
  CHECK(duration_text(std::uint64_t{12} * 86400 * kSecond + 4 * 3600 * kSecond) == "12d04h");
}

TEST_CASE("a size never shows 1024 of a unit", "[size]") {
  CHECK(size_text(0) == "0 B");
  CHECK(size_text(1023) == "1023 B");
  CHECK(size_text(1024) == "1.0 KiB");
  CHECK(size_text(1024 * 1024 - 1) == "1.0 MiB");
  CHECK(size_text(std::uint64_t{3} << 29) == "1.5 GiB");
  CHECK(size_text(~std::uint64_t{0}) == "16.0 EiB");
}
