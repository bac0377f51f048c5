// SPDX-License-Identifier: Apache-2.0
#include "engine/harmless_text.h"

#include <catch2/catch.hpp>

namespace vitrine::engine::testing {
namespace {

TEST_CASE("a text of a client stays one line that no terminal obeys") {
  CHECK(harmless_text("w 1.wtns") == "w 1.wtns");
  CHECK(harmless_text("zeuge-\xC3\xA4.wtns") == "zeuge-\xC3\xA4.wtns");
  CHECK(harmless_text("a\x1B[31m\r\n\tb\x7F") == "a?[31m???b?");
  CHECK(harmless_text(std::string("a\0b", 3)) == "a?b");
  CHECK(harmless_text("\xC2\x9B"
                      "31m") == "?31m");
  CHECK(harmless_text("a\xE2\x80\xAE"
                      "b\xE2\x81\xA6"
                      "c\xE2\x80\xA8") == "a?b?c?");
  CHECK(harmless_text("\xFF") == "\xEF\xBF\xBD");
}

TEST_CASE("a long name keeps its end, cut between letters") {
  CHECK(harmless_end("short", 5) == "short");
  CHECK(harmless_end("longer", 5) == "...er");
  CHECK(harmless_end("abc\xC3\xA4"
                     "d",
                     5) == "...d");
  CHECK(harmless_end(std::string(10'000, '\xFF'), 48).size() <= 48);
}

}  // namespace
}  // namespace vitrine::engine::testing
