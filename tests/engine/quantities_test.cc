// SPDX-License-Identifier: Apache-2.0
#include "engine/quantities.h"

#include <catch2/catch.hpp>

namespace vitrine::engine::testing {
namespace {

TEST_CASE("sizes are read exactly") {
  CHECK(parse_size_bytes("0") == 0);
  CHECK(parse_size_bytes("4096") == 4096);
  CHECK(parse_size_bytes("512MiB") == std::uint64_t{512} << 20);
  CHECK(parse_size_bytes("1.5GiB") == std::uint64_t{3} << 29);
  CHECK(parse_size_bytes("0.25KiB") == 256);
  CHECK(parse_size_bytes("8388607TiB") == std::uint64_t{8388607} << 40);
  CHECK(parse_size_bytes("9223372036854775807") == 9223372036854775807u);
}

TEST_CASE("what is not exactly a size is refused, never guessed") {
  for (const char* text : {"",
                           "512G",
                           "512GB",
                           "512 MiB",
                           " 512",
                           "512MiB ",
                           "-1",
                           "+1",
                           "1.5",
                           "1.",
                           ".5GiB",
                           "1e9",
                           "1,5GiB",
                           "MiB",
                           "0x10",
                           "512mib",
                           "512Mib",
                           "1.2.3GiB",
                           "1.1234567GiB",
                           "9223372036854775808",
                           "18446744073709551616",
                           "8388608TiB",
                           "99999999999999999999TiB"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_size_bytes(text).has_value());
  }
}

TEST_CASE("durations are read exactly") {
  CHECK(parse_duration_ns("250ms") == 250'000'000);
  CHECK(parse_duration_ns("5s") == 5'000'000'000);
  CHECK(parse_duration_ns("10m") == 600'000'000'000);
  CHECK(parse_duration_ns("2h") == 7'200'000'000'000);
  CHECK(parse_duration_ns("0s") == 0);
  CHECK(parse_duration_ns("10000h").has_value());
}

TEST_CASE("what is not exactly a duration is refused, never guessed") {
  for (const char* text : {"", "5", "5sec", "5 s", "-5s", "1.5s", "ms", "5S", "10001h",
                           "99999999999999999999s", "5s5s"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_duration_ns(text).has_value());
  }
}

TEST_CASE("sizes are told to people in a unit, or to the byte") {
  CHECK(size_text(1) == "1 byte");
  CHECK(size_text(1023) == "1023 bytes");
  CHECK(size_text(48234496) == "46.0 MiB");
  CHECK(size_text((std::uint64_t{1} << 30) - 1) == "1.0 GiB");
  CHECK(size_text(std::uint64_t{5} << 51) == "10240.0 TiB");
  CHECK(exact_size_text(48234496) == "48234496 bytes");
}

TEST_CASE("settings are shown in the largest unit without a remainder, and read back the same") {
  CHECK(duration_setting(25'000'000'000) == "25s");
  CHECK(duration_setting(1'500'000'000) == "1500ms");
  CHECK(duration_setting(0) == "0ms");
  CHECK(duration_setting(std::uint64_t{7200} * 1'000'000'000) == "2h");
  CHECK(size_setting(std::uint64_t{16} << 30) == "16GiB");
  CHECK(size_setting(4097) == "4097");
  CHECK(size_setting(0) == "0");
  CHECK(parse_size_bytes(size_setting(std::uint64_t{3} << 29)) == std::uint64_t{3} << 29);
}

}  // namespace
}  // namespace vitrine::engine::testing
