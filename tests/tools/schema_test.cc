// SPDX-License-Identifier: Apache-2.0
#include <boost/json/parse.hpp>
#include <catch2/catch.hpp>

#include "shm/schema_text.h"
#include "tests/tools/program_run.h"
#include "tools/schema_table.h"

using namespace vitrine;
using namespace vitrine::tools;
using namespace vitrine::tests;
using Catch::Matchers::Contains;

TEST_CASE("the schema as text has every section, units and the words of enumerations", "[schema]") {
  const auto document = boost::json::parse(shm::schema_text());
  const std::string text = schema_table(document, {});
  for (const auto& section : document.at("sections").as_array()) {
    const std::string name(section.at("name").as_string());
    INFO(name);
    CHECK_THAT(text, Contains("\n" + name + "  "));
    for (const auto& field : section.at("fields").as_array()) {
      CHECK_THAT(text, Contains("\n  " + std::string(field.at("name").as_string()) + " "));
    }
  }
  CHECK_THAT(text, Contains("bytes that may be reserved\n"));
  CHECK_THAT(text, Contains(": 0 unknown, 1 "));
}

TEST_CASE("schema needs no engine", "[schema]") {
  const ProgramRun run = run_vitrine({"schema", "--json"});
  CHECK(run.exit_code == 0);
  CHECK(run.output == shm::schema_text() + "\n");
  CHECK(run_vitrine({"schema"}).output.starts_with("segment version 1."));
}
