// SPDX-License-Identifier: Apache-2.0
#include "exporters/snapshot_query.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/exporters/example_snapshot.h"

namespace vitrine::exporters::testing {

TEST_CASE("a query names sections, a proof kind and a job state") {
  const SnapshotQuery query =
      parse_snapshot_query("sections=jobs,partitions,jobs&kind=po%72ep&state=running").value();
  CHECK(query.sections == std::vector<std::string>{"jobs", "partitions"});
  CHECK(query.kind == "porep");
  CHECK(query.state == "running");
  CHECK(parse_snapshot_query("").value().sections.empty());
  CHECK(parse_snapshot_query("sections=&kind=&state=").value().sections.empty());
}

TEST_CASE("queries that ask for the same have the same canonical text") {
  CHECK(parse_snapshot_query("sections=jobs,memory&kind=a").value().canonical_text() ==
        parse_snapshot_query("kind=a&sections=memory&sections=jobs").value().canonical_text());
  CHECK(parse_snapshot_query("kind=a").value().canonical_text() !=
        parse_snapshot_query("state=done").value().canonical_text());
}

TEST_CASE("what is not known is refused by name") {
  for (const auto& [text, named] :
       {std::pair("sections=jobs,foo", "foo"), std::pair("limit=3", "limit"),
        std::pair("state=sleeping", "sleeping"), std::pair("=1", "parameter")}) {
    const Result<SnapshotQuery> query = parse_snapshot_query(text);
    REQUIRE(query.has_error());
    CHECK(query.error().text.find(named) != std::string::npos);
  }
}

TEST_CASE("choosing jobs leaves them and their partitions") {
  shm::Snapshot snapshot = make_example_snapshot();
  keep_chosen_jobs(snapshot, parse_snapshot_query("state=running").value());
  REQUIRE(snapshot.rows<shm::JobRecord>().size() == 1);
  CHECK(snapshot.rows<shm::JobRecord>()[0].job.value == 2);
  CHECK(snapshot.rows<shm::PartitionRecord>().size() == 9);
  keep_chosen_jobs(snapshot, parse_snapshot_query("kind=other").value());
  CHECK(snapshot.rows<shm::JobRecord>().empty());
  CHECK(snapshot.rows<shm::PartitionRecord>().empty());
  CHECK(snapshot.rows<shm::WorkerRecord>().size() == 2);
}

}  // namespace vitrine::exporters::testing
