// SPDX-License-Identifier: Apache-2.0
#include "exporters/status_document.h"

#include <boost/json/array.hpp>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "exporters/json_text.h"
#include "tests/exporters/example_snapshot.h"

namespace vitrine::exporters::testing {

namespace {

// Every key and every type of the compatible shape, in its order.
constexpr char kGolden[] =
    R"({"uptime_secs":120.0,)"
    R"("memory":{"total_bytes":1000000,"used_bytes":400000,"available_bytes":600000},)"
    R"("synthesis":{"max_concurrent":2,"active":1},)"
    R"("pipelines":[)"
    R"({"job_id":"1","proof_kind":"porep","started_secs_ago":99.0,"total_partitions":1,)"
    R"("partitions_done":1,"partitions":[)"
    R"({"index":0,"state":"done","synth_ms":null,"gpu_ms":null}]},)"
    R"({"job_id":"2","proof_kind":"porep","started_secs_ago":12.0,"total_partitions":9,)"
    R"("partitions_done":1,"partitions":[)"
    R"({"index":0,"state":"pending","synth_ms":null,"gpu_ms":null},)"
    R"({"index":1,"state":"synthesizing","synth_ms":null,"gpu_ms":null},)"
    R"({"index":2,"state":"synthesizing","synth_ms":null,"gpu_ms":null},)"
    R"({"index":3,"state":"synth_done","synth_ms":null,"gpu_ms":null},)"
    R"({"index":4,"state":"gpu","synth_ms":null,"gpu_ms":null},)"
    R"({"index":5,"state":"gpu","synth_ms":null,"gpu_ms":null},)"
    R"({"index":6,"state":"done","synth_ms":1234,"gpu_ms":2000},)"
    R"({"index":7,"state":"failed","synth_ms":null,"gpu_ms":null},)"
    R"({"index":8,"state":"failed","synth_ms":null,"gpu_ms":null}]},)"
    R"({"job_id":"5","proof_kind":"porep","started_secs_ago":95.0,"total_partitions":2,)"
    R"("partitions_done":0,"partitions":[)"
    R"({"index":0,"state":"pending","synth_ms":null,"gpu_ms":null},)"
    R"({"index":1,"state":"pending","synth_ms":null,"gpu_ms":null}]}],)"
    R"("gpu_workers":[)"
    R"({"worker_id":0,"gpu_ordinal":1,"state":"proving","current_job":"2",)"
    R"("current_partition":4,"busy_secs":2.0},)"
    R"({"worker_id":1,"gpu_ordinal":0,"state":"idle","current_job":null,)"
    R"("current_partition":null,"busy_secs":null}],)"
    R"("allocations":{"srs":[)"
    R"({"circuit_id":"multiplier","bytes":4096,"last_used_secs_ago":5.0,"evictable":true}],)"
    R"("pce":[)"
    R"({"circuit_id":"multiplier","bytes":4096,"last_used_secs_ago":0.0,"evictable":false}]},)"
    R"("counters":{"total_completed":5,"total_failed":2,)"
    R"("completed_by_kind":{"porep":2,"post":3},"failed_by_kind":{"porep":1,"post":1},)"
    R"("queue_depth":1},)"
    R"("buffers":{"synth_in_flight":1,"provers_in_flight":2,"aux_in_flight":3,)"
    R"("shells_in_flight":4,"pending_handles":5}})";

std::vector<std::string> job_ids(const shm::Snapshot& snapshot) {
  std::vector<std::string> ids;
  const boost::json::object document = status_document(snapshot);
  for (const auto& pipeline : document.at("pipelines").as_array()) {
    ids.emplace_back(pipeline.at("job_id").as_string());
  }
  return ids;
}

}  // namespace

TEST_CASE("the status document has exactly the keys and types that existing clients read") {
  CHECK(json_text(status_document(make_example_snapshot())) == kGolden);
}

TEST_CASE("a finished job leaves the status document 30 s after its end") {
  shm::Snapshot snapshot = make_example_snapshot();
  CHECK(job_ids(snapshot) == std::vector<std::string>{"1", "2", "5"});
  snapshot.heartbeat_monotonic_ns += 2 * kSecondNs;
  snapshot.taken_monotonic_ns += 2 * kSecondNs;
  CHECK(job_ids(snapshot) == std::vector<std::string>{"2", "5"});
}

TEST_CASE("an engine that has published nothing yet still gives every key") {
  const boost::json::object document = status_document(shm::Snapshot{});
  CHECK(document.at("uptime_secs").is_double());
  CHECK(document.at("pipelines").as_array().empty());
  CHECK(document.at("memory").at("available_bytes").as_uint64() == 0);
  CHECK(document.at("counters").at("completed_by_kind").as_object().empty());
}

TEST_CASE("impossible numbers in a segment do not make impossible numbers in the status document") {
  shm::Snapshot snapshot = make_example_snapshot();
  snapshot.rows<shm::MemoryRecord>()[0].reserved_bytes = ~std::uint64_t{0};
  snapshot.rows<shm::JobRecord>()[4].partitions = ~std::uint32_t{0};
  snapshot.rows<shm::PartitionRecord>()[2].gpu_end.ns = 1;
  const boost::json::object document = status_document(snapshot);
  CHECK(document.at("memory").at("available_bytes").as_uint64() == 0);
  const auto& pipelines = document.at("pipelines").as_array();
  CHECK(pipelines.at(2).at("partitions").as_array().size() == 256);
  CHECK(pipelines.at(1).at("partitions").as_array().at(6).at("gpu_ms").is_null());
}

}  // namespace vitrine::exporters::testing
