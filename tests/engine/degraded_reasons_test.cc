// SPDX-License-Identifier: Apache-2.0
#include "engine/degraded_reasons.h"

#include <catch2/catch.hpp>

#include "engine/short_text.h"
#include "shm/records.h"

namespace vitrine::engine::testing {
namespace {

constexpr std::size_t kRoom = sizeof(shm::EngineRecord::degraded_reason);

TEST_CASE("reasons that fit are shown in full") {
  DegradedReasons reasons;
  reasons.add({"the first at length", "the first"});
  reasons.add("the second");
  CHECK(reasons.text() == "the first at length; the second");
  CHECK(reasons.brief() == "the first; the second");
  CHECK_FALSE(reasons.add({"the first at length", "the same"}));
  CHECK(reasons.remove("the first at length"));
  CHECK(reasons.brief() == "the second");
}

TEST_CASE("reasons for which there is no room are counted") {
  DegradedReasons reasons;
  for (const char letter : {'a', 'b', 'c', 'd'}) reasons.add(std::string(40, letter));
  CHECK(reasons.brief() == std::string(40, 'a') + "; " + std::string(40, 'b') + "; and 2 more");
  CHECK(reasons.text().size() == 4 * 42 - 2);
}

TEST_CASE("a reason longer than its field ends with an ellipsis, and the others are counted") {
  DegradedReasons reasons;
  reasons.add(std::string(200, 'a'));
  CHECK(reasons.brief() == std::string(kRoom - 3, 'a') + "\xE2\x80\xA6");
  reasons.add("b");
  CHECK(reasons.brief().size() == kRoom);
  CHECK(reasons.brief().substr(kRoom - 15) == "\xE2\x80\xA6; and 1 more");
}

TEST_CASE("a text that is cut ends with an ellipsis after a whole character") {
  shm::Text<8> field;
  shorten(field, "12345678");
  CHECK(field.view() == "12345678");
  shorten(field, "123456789");
  CHECK(field.view() == "12345\xE2\x80\xA6");
  shorten(field,
          "1234\xC3\xA4"
          "6789");
  CHECK(field.view() == "1234\xE2\x80\xA6");
}

}  // namespace
}  // namespace vitrine::engine::testing
