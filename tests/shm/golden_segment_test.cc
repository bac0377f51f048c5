// SPDX-License-Identifier: Apache-2.0
// Segments of other versions, as files: what was written once is shown the same for ever.
#include <boost/json/parse.hpp>

#include "tests/shm/segment_json.h"
#include "tests/shm/small_segment.h"

namespace vitrine::shm {
namespace {

namespace json = boost::json;

const std::filesystem::path kGoldens = std::filesystem::path(VITRINE_TEST_DATA) / "segments";

json::object looked_at(const std::string& name) {
  // Through text, as the golden answer was.
  return json::parse(json::serialize(segment_json(kGoldens / (name + ".segment")))).as_object();
}

json::object golden(const std::string& name) {
  return json::parse(read_whole(kGoldens / (name + ".json"))).as_object();
}

// A later reader shows what it always did, and null for what was not there yet.
void check_has(const json::value& shown, const json::value& expected) {
  if (expected.is_object() && shown.is_object()) {
    for (const auto& member : shown.get_object()) {
      CAPTURE(std::string(member.key()));
      const json::value* was = expected.get_object().if_contains(member.key());
      if (was != nullptr) {
        check_has(member.value(), *was);
      } else {
        CHECK(member.value().is_null());
      }
    }
    for (const auto& member : expected.get_object()) {
      CHECK(shown.get_object().contains(member.key()));
    }
  } else if (expected.is_array() && shown.is_array()) {
    REQUIRE(shown.get_array().size() == expected.get_array().size());
    for (std::size_t i = 0; i < expected.get_array().size(); ++i) {
      check_has(shown.at(i), expected.at(i));
    }
  } else {
    CHECK(json::serialize(shown) == json::serialize(expected));
  }
}

void check_same(const std::string& name) {
  CAPTURE(name);
  const json::object shown = looked_at(name);
  const json::object expected = golden(name);
  for (const auto& member : expected) {
    CAPTURE(std::string(member.key()));
    const json::value* found = shown.if_contains(member.key());
    REQUIRE(found != nullptr);
    check_has(*found, member.value());
  }
}

}  // namespace

TEST_CASE("A segment of version 1.0 is shown as its engine left it, and what came later is null") {
  check_same("v1_0");
  const json::object shown = looked_at("v1_0");
  CHECK(shown.at("jobs").as_array().size() == 3);
  CHECK(shown.at("threads").as_array().empty());
  CHECK(shown.at("engine").at("last_words").is_null());
  CHECK(shown.at("partitions").at(0).at("stage_name").is_null());
}

TEST_CASE("A segment of version 1.1 is shown as its engine left it") {
  check_same("v1_1");
  const json::object shown = looked_at("v1_1");
  CHECK(shown.at("jobs").at(1).at("x_price_cents") == 101);
  CHECK(shown.at("jobs").at(1).at("x_customer") == "customer");
  for (const char* table : {"threads", "limiters", "stage_times", "settings", "errors"}) {
    CHECK(shown.at(table).as_array().size() == 1);
  }
}

TEST_CASE("A segment of version 1.2 is shown as its engine left it") {
  check_same("v1_2");
  const json::object shown = looked_at("v1_2");
  CHECK(shown.at("jobs").at(2).at("expected_end_time") == "2100-01-01T00:00:03.000Z");
  CHECK(shown.at("jobs").at(1).at("x_price_cents") == 101);
}

TEST_CASE("Fields and sections of a version to come are shown by the segment's own schema") {
  check_same("future");
  const json::object shown = looked_at("future");
  CHECK(shown.at("engine").at("layout_version") == "1.7");
  CHECK(shown.at("jobs").at(1).at("tenant") == "customer");
  CHECK(shown.at("tenants").as_array().size() == 2);
  CHECK(shown.at("tenants").at(1).at("name") == "third");
}

TEST_CASE("Another major version and a feature that is required are refused, naming the older") {
  for (const char* name : {"refused_newer_major", "refused_older_major", "refused_feature"}) {
    check_same(name);
  }
  const auto reason = [](const char* name) {
    return std::string(looked_at(name).at("refused").as_string());
  };
  CHECK_THAT(reason("refused_newer_major"), Catch::Contains("the program is older: upgrade it"));
  CHECK_THAT(reason("refused_older_major"), Catch::Contains("the engine is older: upgrade it"));
  CHECK_THAT(reason("refused_feature"), Catch::Contains("the program is older: upgrade it"));
}

TEST_CASE("The golden segments are small") {
  constexpr std::uintmax_t kBytesMax = 200 * 1024;
  for (const auto& entry : std::filesystem::directory_iterator(kGoldens)) {
    CAPTURE(entry.path().string());
    CHECK(entry.file_size() < kBytesMax);
  }
}

}  // namespace vitrine::shm
