// SPDX-License-Identifier: Apache-2.0
#include "engine/line_limit.h"

#include <catch2/catch.hpp>

namespace vitrine::engine {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kStart = 7 * kSecond;

unsigned admitted(LineLimit& limit, std::string_view phrase, std::uint64_t now_ns, unsigned lines) {
  unsigned count = 0;
  for (unsigned i = 0; i < lines; ++i) count += limit.admits(phrase, now_ns) ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("a phrase gets so many lines in a second, whatever others get") {
  LineLimit limit(3);
  CHECK(admitted(limit, "job refused", kStart, 10) == 3);
  CHECK(admitted(limit, "job done", kStart, 2) == 2);
  CHECK(admitted(limit, "job refused", kStart + kSecond - 1, 10) == 0);
  CHECK(admitted(limit, "job refused", kStart + kSecond, 10) == 3);
}

TEST_CASE("what was left out is told once, when its second is over") {
  LineLimit limit(3);
  CHECK(admitted(limit, "job refused", kStart, 10) == 3);
  CHECK(admitted(limit, "job done", kStart, 3) == 3);
  CHECK(limit.take_left_out(kStart + kSecond - 1).empty());
  const auto told = limit.take_left_out(kStart + kSecond);
  REQUIRE(told.size() == 1);
  CHECK(told[0].phrase == "job refused");
  CHECK(told[0].lines == 7);
  CHECK(limit.take_left_out(kStart + 2 * kSecond).empty());
}

TEST_CASE("a limit of zero lets every line through") {
  LineLimit limit(0);
  CHECK(admitted(limit, "job refused", kStart, 10'000) == 10'000);
  CHECK(limit.take_left_out(kStart + kSecond).empty());
}

}  // namespace vitrine::engine
