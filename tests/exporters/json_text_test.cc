// SPDX-License-Identifier: Apache-2.0
#include "exporters/json_text.h"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <catch2/catch.hpp>
#include <clocale>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace vitrine::exporters::testing {

namespace {
std::string text_of(double number) { return json_text(boost::json::value(number)); }
std::string text_of(std::string_view text) { return json_text(boost::json::value(text)); }
}  // namespace

TEST_CASE("a float always reads as a float") {
  CHECK(text_of(12.0) == "12.0");
  CHECK(text_of(0.0) == "0.0");
  CHECK(text_of(-3.0) == "-3.0");
  CHECK(text_of(0.1) == "0.1");
  CHECK(text_of(1e300) == "1e+300");
  for (const double number : {1.0 / 3.0, 5e-324, 123456789.125, 1e22}) {
    const boost::json::value parsed = boost::json::parse(text_of(number));
    CHECK(parsed.is_double());
    CHECK(parsed.as_double() == number);
  }
}

TEST_CASE("a number that is not finite is null") {
  CHECK(text_of(std::numeric_limits<double>::infinity()) == "null");
  CHECK(text_of(std::numeric_limits<double>::quiet_NaN()) == "null");
}

TEST_CASE("integers are exact") {
  CHECK(json_text(boost::json::value(std::numeric_limits<std::uint64_t>::max())) ==
        "18446744073709551615");
  CHECK(json_text(boost::json::value(std::numeric_limits<std::int64_t>::min())) ==
        "-9223372036854775808");
}

TEST_CASE("hostile strings stay one valid JSON string") {
  CHECK(text_of(std::string_view("a\"b\\c\nd\0e", 9)) == R"("a\"b\\c\u000ad\u0000e")");
  CHECK(text_of("</script>") == R"("\u003c/script>")");
  CHECK(text_of("\xE2\x80\xA8\xE2\x80\xA9\xE2\x82\xAC") == "\"\\u2028\\u2029\xE2\x82\xAC\"");
  CHECK(text_of("a\xFF\xE2\x80") == "\"a\xEF\xBF\xBD\xEF\xBF\xBD\"");
  CHECK(text_of("\xF0\x9F\x94\xA5") == "\"\xF0\x9F\x94\xA5\"");
}

TEST_CASE("arrays and objects nest, also empty ones") {
  const boost::json::value value = boost::json::parse(R"({"a":[],"b":{},"c":[[1],{"d":null}]})");
  CHECK(json_text(value) == R"({"a":[],"b":{},"c":[[1],{"d":null}]})");
}

}  // namespace vitrine::exporters::testing
