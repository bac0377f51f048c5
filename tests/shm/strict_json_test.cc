// SPDX-License-Identifier: Apache-2.0
#include "shm/strict_json.h"

#include <boost/json/serialize.hpp>
#include <catch2/catch.hpp>

namespace vitrine::shm {
namespace {

std::string fault_of(std::string_view text) {
  const auto parsed = parse_strict_json(text, 4);
  return parsed ? "none" : parsed.error().text;
}

TEST_CASE("a member that an object has twice is named, however it is written") {
  CHECK(fault_of(R"({"a": 1, "b": 2, "a": 1})") == "member 'a' is given twice");
  CHECK(fault_of(R"({"a": 1, "\u0061": 2})") == "member 'a' is given twice");
  CHECK(fault_of(R"([{"x": {"": 1, "": 2}}])") == "member '' is given twice");
  CHECK(fault_of(R"({"a": {"b": 1}, "c": 2, "a": 3, )") == "member 'a' is given twice");
  CHECK(fault_of(R"({"a\u0000\n": 1, "a\u0000\n": 2})") == R"(member 'a\x00\x0a' is given twice)");
  const std::string longest(100'000, 'n');
  CHECK(fault_of("{\"" + longest + "\": 1, \"" + longest + "\": 1}").size() < 100);
}

TEST_CASE("the same name in several objects is no fault, and the value is what was written") {
  const char* text = R"({"a":{"a":[{"a":1},{"a":2}]},"b":{"a":"\u0061"},"A":-1.5e3,"c":null})";
  const auto parsed = parse_strict_json(text, 4);
  REQUIRE(parsed.has_value());
  CHECK(*parsed == boost::json::value({{"a", {{"a", {{{"a", 1}}, {{"a", 2}}}}}},
                                       {"b", {{"a", "a"}}},
                                       {"A", -1500.0},
                                       {"c", nullptr}}));
}

TEST_CASE("what is no JSON, or too deep, says so") {
  for (const char* text : {"", "{", "{}x", "{'a': 1}", "[[[[[1]]]]]", R"({"a": 1, "b})"}) {
    INFO(text);
    CHECK(fault_of(text).starts_with("not JSON: "));
  }
}

}  // namespace
}  // namespace vitrine::shm
