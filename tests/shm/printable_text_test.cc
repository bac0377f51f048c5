// SPDX-License-Identifier: Apache-2.0
#include "shm/printable_text.h"

#include <catch2/catch.hpp>

namespace vitrine::shm {

TEST_CASE("a foreign text stays one line that no terminal obeys") {
  CHECK(printable_text("w 1.wtns") == "w 1.wtns");
  CHECK(printable_text("zeuge-\xC3\xA4") == "zeuge-\xC3\xA4");
  CHECK(printable_text("zeuge-\xC3\xA4", Charset::kAscii) == "zeuge-?");
  CHECK(printable_text("a\x1B[31m\r\n") == "a\\x1b[31m\\x0d\\x0a");
  CHECK(printable_text(std::string("a\0b", 3)) == "a\\x00b");
  CHECK(printable_text("\xC2\x9B") == "\\xc2\\x9b");
  CHECK(printable_text("\xE2\x80\xAE") == "\\xe2\\x80\\xae");
  CHECK(printable_text("\xFF") == "\\xff");
}

TEST_CASE("a long name keeps its end, cut between letters") {
  CHECK(printable_end("short", 5) == "short");
  CHECK(printable_end("longer", 5) == "...er");
  CHECK(printable_end("abc\xC3\xA4"
                      "d",
                      5) == "...d");
  CHECK(printable_end(std::string(10'000, '\xFF'), 48).size() <= 48);
}

}  // namespace vitrine::shm
