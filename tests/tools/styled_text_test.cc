// SPDX-License-Identifier: Apache-2.0
#include "tools/styled_text.h"

#include <catch2/catch.hpp>

#include "tools/amount_bar.h"
#include "tools/text_table.h"

using namespace vitrine::tools;

namespace {

constexpr TextStyle kPlainAscii{};
constexpr TextStyle kColoured{Charset::kUtf8, Colour::kAnsi};

}  // namespace

TEST_CASE("hostile text cannot move the cursor or change colours", "[printable]") {
  CHECK(printable("\x1b[31mred\x07\n\t\x7f", Charset::kUtf8) == "\\x1b[31mred\\x07\\x0a\\x09\\x7f");
  CHECK(printable("\xc2\x9b"
                  "31m",
                  Charset::kUtf8) == "\\xc2\\x9b31m");  // C1 control
}

TEST_CASE("text that reorders or hides itself is shown as bytes", "[printable]") {
  CHECK(printable("a\u202e"
                  "b\u200b\u2066\ufeff",
                  Charset::kUtf8) ==
        "a\\xe2\\x80\\xaeb\\xe2\\x80\\x8b\\xe2\\x81\\xa6\\xef\\xbb\\xbf");
}

TEST_CASE("bytes that are not UTF-8 are shown as bytes", "[printable]") {
  CHECK(printable("a\xff\xc3", Charset::kUtf8) == "a\\xff\\xc3");
  CHECK(printable("\xc0\xaf", Charset::kUtf8) == "\\xc0\\xaf");           // overlong
  CHECK(printable("\xed\xa0\x80", Charset::kUtf8) == "\\xed\\xa0\\x80");  // surrogate
  CHECK(printable("\xf4\x90\x80\x80", Charset::kUtf8) == "\\xf4\\x90\\x80\\x80");
}

TEST_CASE("good text stays as it is, in ASCII only where ASCII is promised", "[printable]") {
  CHECK(printable("gruß €😀", Charset::kUtf8) == "gruß €😀");
  CHECK(printable("gruß €😀", Charset::kAscii) == "gru? ??");
}

TEST_CASE("tones are painted only where there is colour", "[styled]") {
  const StyledText text = StyledText("a ").add("b", Tone::kBad);
  CHECK(text.width() == 3);
  CHECK(text.painted(kPlainAscii) == "a b");
  CHECK(text.painted(kColoured) == "a \x1b[31mb\x1b[0m");
}

TEST_CASE("a table aligns its columns and leaves no blanks at line ends", "[table]") {
  TextTable table({{"NAME"}, {"N", Align::kRight}, {"NOTE"}});
  table.add_row({cell("a"), cell("5"), cell("x")});
  table.add_row({cell("longer"), cell("1234"), cell("")});
  CHECK(table.text(kPlainAscii, 0) ==
        "NAME       N  NOTE\n"
        "a          5  x\n"
        "longer  1234\n");
}

TEST_CASE("text that is too wide is cut between characters, with a mark", "[styled]") {
  StyledText text("ab", Tone::kGood);
  text.add("üöä");
  CHECK(text.cut(5, Charset::kUtf8).painted(kPlainAscii) == "abüöä");
  CHECK(text.cut(4, Charset::kUtf8).painted(kPlainAscii) == "abü…");
  CHECK(text.cut(4, Charset::kAscii).painted(kPlainAscii) == "a...");
}

TEST_CASE("a cell of two lines makes its row two lines high", "[table]") {
  TextTable table({{"A"}, {"B"}, {"C"}});
  table.add_row({cell("a"), {StyledText("one"), StyledText("two")}, cell("c")});
  CHECK(table.text(kPlainAscii, 1) ==
        " A  B    C\n"
        " a  one  c\n"
        "    two\n");
}

TEST_CASE("a bar is full only for the whole and empty only for nothing", "[bar]") {
  const auto bar = [](std::uint64_t part, std::uint64_t whole) {
    return amount_bar(part, whole, 4, Charset::kAscii).painted(kPlainAscii);
  };
  CHECK(bar(0, 100) == "....");
  CHECK(bar(1, 100) == "#...");
  CHECK(bar(50, 100) == "##..");
  CHECK(bar(99, 100) == "###.");
  CHECK(bar(100, 100) == "####");
  CHECK(bar(200, 100) == "####");
  CHECK(bar(5, 0) == "....");
}
