// SPDX-License-Identifier: Apache-2.0
// The API over its socket, with a real engine behind it.
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <fstream>

#include "engine/groth16.h"
#include "engine/proof_compressed.h"
#include "engine/proof_json.h"
#include "engine/text_file.h"
#include "shm/segment_reader.h"
#include "tests/engine/api_fixture.h"

namespace vitrine::engine::testing {
namespace {

using namespace std::chrono_literals;
using Catch::Matchers::Contains;

TEST_CASE("a form of witnesses becomes a job whose proofs can be fetched") {
  ApiFixture api;
  const ApiAnswer accepted = api.client().post_form(
      "/v1/jobs?circuit=demo&priority=high&request_id=mine", {witness(0), witness(1), witness(2)});
  REQUIRE(accepted.status == 202);
  const json::object submitted = json::parse(accepted.body).as_object();
  const std::string id = text_of(submitted, "job");
  CHECK(accepted.header("Location") == "/v1/jobs/" + id);
  CHECK(text_of(submitted, "priority") == "high");
  CHECK(text_of(submitted, "request") == "mine");
  CHECK(submitted.at("partitions").as_int64() == 3);
  CHECK(text_of(api.final_job(id), "state") == "done");

  const auto key = parse_verifying_key(
      *read_text_file(circuit_folder("bn128", "demo") / "verification_key.json", kMaxJsonBytes));
  const ApiAnswer answer = api.client().get("/v1/jobs/" + id + "/proof?partition=2");
  REQUIRE(answer.status == 200);
  const json::object proof = json::parse(answer.body).as_object();
  CHECK(verify(*key, *parse_proof(json::serialize(proof.at("proof"))),
               *parse_public(json::serialize(proof.at("publicSignals"))))
            .has_value());
  const ApiAnswer all = api.client().get("/v1/jobs/" + id + "/proof");
  CHECK(json::parse(all.body).as_array().size() == 3);
  CHECK(api.client().get("/v1/jobs/" + id + "/proof?partition=3").status == 404);
  api.await_empty_spool();
}

TEST_CASE("proofs of BLS12-381 can be fetched in 192 bytes each, those of BN254 cannot") {
  ApiFixture api;
  const auto witness_of = [](unsigned number) {
    return read_text_file(
               circuit_folder("bls12381", "demo") / ("witness." + std::to_string(number) + ".wtns"),
               kMaxJsonBytes)
        .value();
  };
  const auto submit = [&](const std::string& circuit, const std::vector<std::string>& witnesses) {
    const ApiAnswer accepted = api.client().post_form("/v1/jobs?circuit=" + circuit, witnesses);
    REQUIRE(accepted.status == 202);
    const std::string id = text_of(json::parse(accepted.body).as_object(), "job");
    REQUIRE(text_of(api.final_job(id), "state") == "done");
    return "/v1/jobs/" + id + "/proof";
  };
  const std::string proofs = submit("bls", {witness_of(0), witness_of(1)});
  const ApiAnswer all = api.client().get(proofs + "?format=compressed");
  REQUIRE(all.status == 200);
  CHECK(all.header("Content-Type") == "application/octet-stream");
  REQUIRE(all.body.size() == 2 * 192);
  CHECK(api.client().get(proofs + "?format=compressed&partition=1").body == all.body.substr(192));
  const auto json_proof = json::parse(api.client().get(proofs + "?partition=0").body).as_object();
  const auto points = parse_proof(json::serialize(json_proof.at("proof"))).value();
  const auto bytes = compress(std::get<ProofPoints<kernels::Bls12_381>>(points));
  CHECK(all.body.substr(0, 192) ==
        std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  const ApiAnswer refused = api.client().get(submit("demo", {witness(0)}) + "?format=compressed");
  CHECK(refused.status == 422);
  CHECK_THAT(refused.body, Contains("bn128"));
  CHECK(api.client().get(proofs + "?format=zip").status == 400);
}

TEST_CASE("a raw witness is proved while the client waits") {
  ApiFixture api;
  const ApiAnswer answer =
      api.client().send("POST", "/v1/prove?circuit=demo", "application/octet-stream", witness(1));
  REQUIRE(answer.status == 200);
  CHECK(json::parse(answer.body).as_object().contains("publicSignals"));
  CHECK(answer.header("Cache-Control") == "no-store");
}

TEST_CASE("witnesses on the engine's host are taken from the listed folders only") {
  ApiFixture api;
  const auto post = [&](const std::string& body) {
    return api.client().send("POST", "/v1/jobs?circuit=demo", "application/json", body);
  };
  const auto folder = circuit_folder("bn128", "demo");
  const auto named = [&](const std::string& path) {
    return post("{\"witnesses\": [\"" + path + "\"]}");
  };
  const ApiAnswer accepted = named((folder / "witness.1.wtns").string());
  REQUIRE(accepted.status == 202);
  CHECK(text_of(api.final_job(text_of(json::parse(accepted.body).as_object(), "job")), "state") ==
        "done");
  CHECK(std::filesystem::exists(folder / "witness.1.wtns"));
  const ScratchFolder scratch;
  std::filesystem::create_symlink(folder / "witness.1.wtns", scratch / "link.wtns");
  for (const std::string& path :
       {(folder / "../multiplier/witness.1.wtns").string(), std::string("/etc/passwd"),
        (folder / "absent.wtns").string(), std::string("witness.1.wtns"), folder.string()}) {
    INFO(path);
    const ApiAnswer refused = named(path);
    CHECK(refused.status == 400);
    CHECK_THAT(detail_of(refused), Contains("witness_directories"));
  }
  for (const char* body : {"{", "[]", "{\"witnesses\": 1}", "{\"witnesses\": [1]}", "{\"w\": []}",
                           "{\"witnesses\": []}", "[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]"}) {
    INFO(body);
    CHECK(post(body).status == 400);
  }
  const std::string path = "[\"" + (folder / "witness.1.wtns").string() + "\"]";
  const ApiAnswer twice = post("{\"witnesses\": [\"/x\"], \"witnesses\": " + path + "}");
  CHECK(twice.status == 400);
  CHECK(detail_of(twice) == "the body: member 'witnesses' is given twice");
}

TEST_CASE("what is not understood is refused by name") {
  ApiFixture api;
  const ApiClient client = api.client();
  const std::string w = witness(1);
  const auto post = [&](const std::string& query) { return client.post_form(query, {w}); };
  CHECK_THAT(detail_of(post("/v1/jobs?circuit=demo&colour=red")), Contains("'colour'"));
  CHECK_THAT(detail_of(post("/v1/jobs")), Contains("circuit"));
  CHECK(post("/v1/jobs?circuit=absent").status == 404);
  CHECK_THAT(detail_of(post("/v1/jobs?circuit=demo&priority=soon")), Contains("priority"));
  CHECK_THAT(detail_of(post("/v1/jobs?circuit=demo&deadline=soon")), Contains("deadline"));
  CHECK_THAT(detail_of(post("/v1/jobs?circuit=demo&deadline=5s&cancel_at_deadline=yes")),
             Contains("cancel_at_deadline: expected true or false"));
  CHECK_THAT(detail_of(post("/v1/jobs?circuit=demo&cancel_at_deadline=true")),
             Contains("there is no deadline"));
  CHECK(client.post_form("/v1/jobs?circuit=demo", {w}, "file").status == 400);
  CHECK(client.send("POST", "/v1/jobs?circuit=demo", "text/plain", w).status == 415);
  CHECK(client.send("POST", "/v1/jobs?circuit=demo", "", "").status == 400);
  CHECK(client.post_form("/v1/jobs?circuit=demo", {}).status == 400);
  CHECK(client.get("/v1/jobs/1").status == 404);
  CHECK(client.get("/v1/jobs/one").status == 404);
  CHECK(client.get("/v1/jobs/1/proofs").status == 404);
  CHECK(client.get("/v1/jobs?limit=many").status == 400);
  CHECK(client.get("/other").status == 404);
  const ApiAnswer wrong_method = client.send("PUT", "/v1/jobs", "", "");
  CHECK(wrong_method.status == 405);
  CHECK(wrong_method.header("Allow") == "GET, POST");
  CHECK(client.get("/v1/circuits").status == 200);
  api.await_empty_spool();
}

TEST_CASE("a request that can be read in two ways is refused") {
  ApiFixture api;
  const ApiClient client = api.client();
  const std::string w = witness(1);
  const auto detail = [&](const std::string& target) {
    const ApiAnswer answer = client.post_form(target, {w});
    CHECK(answer.status == 400);
    return detail_of(answer);
  };
  CHECK_THAT(detail("/v1/jobs?circuit=zz&circuit=demo"),
             Contains("'circuit'") && Contains("twice"));
  CHECK_THAT(detail("/v1/jobs?circuit=demo%00zz"), Contains("control character"));
  CHECK_THAT(detail("/v1/jobs?circuit=demo&request_id=a%0Ab"), Contains("control character"));
  const std::string framed =
      "POST /v1/jobs?circuit=demo HTTP/1.1\r\nHost: v\r\nConnection: close\r\n"
      "Content-Type: application/octet-stream\r\n";
  for (const char* twice :
       {"Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
        "Content-Length: 1\r\nContent-Length: 1\r\n\r\nx"}) {
    INFO(twice);
    CHECK(client.raw(framed + twice).status == 400);
  }
  const ApiAnswer unknown_state = client.get("/v1/jobs?state=foo");
  CHECK(unknown_state.status == 400);
  CHECK_THAT(detail_of(unknown_state), Contains("queued") && Contains("refused or lost"));
  for (const char* target : {"/v1/circuits?x=1", "/v1/pause?x=1", "/v1/jobs/1?x=1"}) {
    INFO(target);
    const bool is_post = std::string(target).find("pause") != std::string::npos;
    const ApiAnswer answer = client.send(is_post ? "POST" : "GET", target, "", "");
    CHECK(answer.status == 400);
    CHECK_THAT(detail_of(answer), Contains("'x'"));
  }
  CHECK(client.send("PUT", "/v1/jobs", "text/plain", "body").status == 405);
  CHECK(client.send("PUT", "/v1/other", "text/plain", "body").status == 404);
  CHECK(client.get("/v1/jobs").body.find("\"jobs\":[]") != std::string::npos);
}

class LineJournal : public Journal {
 public:
  void write(const JournalEntry& entry) override {
    if (entry.what == "job refused") ++refusals;
  }
  std::atomic<unsigned> refusals{0};
};

unsigned refuse_events(EngineFixture& engine) {
  auto reader = shm::SegmentReader::attach(engine.engine().segment().path());
  REQUIRE(reader.has_value());
  const auto batch = reader->events_after(0, 1000);
  return static_cast<unsigned>(
      std::count_if(batch->events.begin(), batch->events.end(),
                    [](const shm::Event& event) { return event.type == shm::EventType::kRefuse; }));
}

TEST_CASE("each job refused before its upload is counted, shown and logged once") {
  LineJournal journal;
  ApiFixture api({}, [&](EngineOptions& options) {
    options.configuration.memory_budget_bytes = std::uint64_t{100} << 10;
    options.journal = &journal;
  });
  const std::string w = witness(1);
  for (unsigned refused = 1; refused <= 3; ++refused) {
    const ApiAnswer answer =
        api.client().post_form("/v1/jobs?circuit=demo&request_id=mine&priority=high", {w});
    CHECK(answer.status == 422);
    const auto seen = api.engine().snapshot();
    const auto& kind = seen.rows<shm::CountersRecord>().at(0);
    CHECK(kind.submitted == refused);
    CHECK(kind.refused == refused);
    CHECK(seen.memory().refused_impossible == refused);
    CHECK(refuse_events(api.engine()) == refused);
    CHECK(journal.refusals == refused);
  }
  const json::object listed =
      json::parse(api.client().get("/v1/jobs?state=refused").body).as_object();
  REQUIRE(listed.at("jobs").as_array().size() == 3);
  const json::object& job = listed.at("jobs").as_array()[0].as_object();
  CHECK(text_of(job, "request") == "mine");
  CHECK_THAT(text_of(job, "failure"), Contains("the budget is 100.0 KiB"));
  CHECK(api.client().post_form("/v1/jobs?circuit=absent", {w}).status == 404);
  CHECK(api.client().post_form("/v1/jobs?circuit=demo&deadline=x", {w}).status == 400);
  CHECK(api.engine().snapshot().rows<shm::CountersRecord>().at(0).submitted == 3);
}

TEST_CASE("a draining engine refuses with 503 and counts it") {
  ApiFixture api;
  CHECK(api.engine().engine().drain(std::chrono::steady_clock::now()));
  CHECK(api.client().post_form("/v1/jobs?circuit=demo", {witness(1)}).status == 503);
  CHECK(api.engine().snapshot().rows<shm::CountersRecord>().at(0).refused == 1);
  CHECK(refuse_events(api.engine()) == 1);
}

TEST_CASE("bodies are bounded, however they are sent") {
  ApiFixture api;
  const std::string much(300 << 10, 'x');
  CHECK(
      api.client().send("POST", "/v1/jobs?circuit=demo", "application/octet-stream", much).status ==
      413);
  const std::string chunk = "1000\r\n" + std::string(0x1000, 'x') + "\r\n";
  std::string chunked =
      "POST /v1/jobs?circuit=demo HTTP/1.1\r\nHost: v\r\nConnection: close\r\n"
      "Content-Type: application/octet-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 100; ++i) chunked += chunk;
  CHECK(api.client().raw(chunked + "0\r\n\r\n").status == 413);
  CHECK(api.client().send("POST", "/v1/jobs?circuit=demo", "application/json", much).status == 413);
  const std::vector<std::string> many(257, "x");
  CHECK(api.client().post_form("/v1/jobs?circuit=demo", many).status == 400);
  api.await_empty_spool();
}

TEST_CASE("a full spool refuses with 507 and takes again when there is room") {
  Gate gate;
  ApiFixture api([&gate](ScriptedStage stage, unsigned call) -> Result<void> {
    if (stage == ScriptedStage::kSynthesize && call == 0) gate.pass();
    return {};
  });
  const std::vector<std::string> large(30, witness(1));  // 240 of 256 KiB
  std::vector<std::string> jobs;
  ApiAnswer answer = api.client().post_form("/v1/jobs?circuit=demo", large);
  while (answer.status == 202) {
    jobs.push_back(text_of(json::parse(answer.body).as_object(), "job"));
    answer = api.client().post_form("/v1/jobs?circuit=demo", large);
  }
  CHECK(answer.status == 507);
  CHECK(jobs.size() == 4);
  gate.open();
  for (const std::string& job : jobs) CHECK(text_of(api.final_job(job), "state") == "done");
  CHECK(api.client().post_form("/v1/jobs?circuit=demo", large).status == 202);
}

TEST_CASE("a full queue answers 429 and when to come again, an impossible job 422 with numbers") {
  const std::uint64_t budget_bytes = peak_bytes("demo") - 1;
  Gate gate;
  ApiFixture api(
      [&gate](ScriptedStage stage, unsigned call) -> Result<void> {
        if (stage == ScriptedStage::kSynthesize && call == 0) gate.pass();
        return {};
      },
      [&](EngineOptions& options) {
        options.configuration.job_queue_capacity = 1;
        options.configuration.memory_budget_bytes = budget_bytes;
      });
  const std::string w = read_file(circuit_folder("bn128", "multiplier") / "witness.1.wtns");
  const auto post = [&] { return api.client().post_form("/v1/jobs?circuit=multiplier", {w}); };
  CHECK(post().status == 202);
  gate.await_arrivals(1);
  CHECK(post().status == 202);
  const ApiAnswer full = post();
  CHECK(full.status == 429);
  CHECK(full.header("Retry-After") == "1");
  CHECK(api.engine().snapshot().rows<shm::CountersRecord>().at(1).refused == 1);
  const ApiAnswer impossible = api.client().post_form("/v1/jobs?circuit=demo", {witness(1)});
  CHECK(impossible.status == 422);
  CHECK_THAT(detail_of(impossible), Contains(std::to_string(budget_bytes) + " bytes"));
  gate.open();
}

TEST_CASE("a job is cancelled by DELETE, and one that has ended says how") {
  Gate gate;
  ApiFixture api([&gate](ScriptedStage stage, unsigned call) -> Result<void> {
    if (stage == ScriptedStage::kStart && call == 0) gate.pass();
    return {};
  });
  const ApiClient client = api.client();
  const auto submit = [&] {
    const ApiAnswer answer = client.post_form("/v1/jobs?circuit=demo", {witness(1)});
    return text_of(json::parse(answer.body).as_object(), "job");
  };
  const std::string first = submit();
  gate.await_arrivals(1);
  CHECK(client.get("/v1/jobs/" + first + "/proof").status == 409);
  CHECK(client.get("/v1/jobs/" + first + "?wait=10ms").status == 200);
  CHECK(client.send("DELETE", "/v1/jobs/" + first, "", "").status == 202);
  gate.open();
  CHECK(text_of(api.final_job(first), "state") == "cancelled");
  CHECK(client.send("DELETE", "/v1/jobs/" + first, "", "").status == 200);
  const std::string second = submit();
  CHECK(text_of(api.final_job(second), "state") == "done");
  CHECK(client.send("DELETE", "/v1/jobs/" + second, "", "").status == 409);
  CHECK(client.send("DELETE", "/v1/jobs/1", "", "").status == 404);
  const json::object listed = json::parse(client.get("/v1/jobs?state=done").body).as_object();
  CHECK(listed.at("jobs").as_array().size() == 1);
}

TEST_CASE("a witness that is wrong gives 422 and the reason, and leaves no file behind") {
  ApiFixture api;
  const ApiAnswer answer = api.client().send("POST", "/v1/prove?circuit=demo",
                                             "application/octet-stream", "not a witness");
  CHECK(answer.status == 422);
  CHECK_THAT(detail_of(answer), Contains("wtns"));
  api.await_empty_spool();
}

TEST_CASE("a job that is to end at its deadline does, and says so") {
  ApiFixture api;
  CHECK(api.client().send("POST", "/v1/pause", "", "").status == 202);
  const ApiAnswer answer = api.client().post_form(
      "/v1/prove?circuit=demo&deadline=50ms&cancel_at_deadline=true", {witness(1)});
  CHECK(answer.status == 500);
  CHECK_THAT(answer.body, Contains("the deadline, 50ms after it was submitted, has passed"));
}

TEST_CASE("pause, resume and drain are asked for by POST") {
  ApiFixture api;
  const ApiClient client = api.client();
  CHECK(client.send("POST", "/v1/pause", "", "").status == 202);
  CHECK(api.engine().snapshot().engine().paused == 1);
  CHECK(client.send("POST", "/v1/resume", "", "").status == 202);
  CHECK(api.engine().snapshot().engine().paused == 0);
  CHECK_FALSE(api.has_drained());
  CHECK(client.send("POST", "/v1/drain", "", "").status == 202);
  CHECK(api.has_drained());
}

TEST_CASE("a client that sends its head too slowly is cut off, others are not") {
  ApiFixture api;
  const ScratchFolder scratch;
  const auto impatient = api.serve(scratch / "slow.sock", {.head_patience = 100ms});
  CHECK(ApiClient(scratch / "slow.sock").drip("GET /v1/circuits HTTP/1.1\r\nHost: ") == 0);
  CHECK(ApiClient(scratch / "slow.sock").get("/v1/circuits").status == 200);
}

TEST_CASE("bytes that are no HTTP change nothing") {
  ApiFixture api;
  const ScratchFolder scratch;
  const auto server = api.serve(scratch / "s", {.head_patience = 1s});
  // What could still become a request is cut off when it has had its time.
  for (const std::string& bytes :
       {std::string("\0\1\2\r\n\r\n", 7), std::string("GET\r\n\r\n"),
        std::string("POST /v1/jobs?circuit=demo HTTP/1.1\r\nHost: v\r\nContent-Length: -5\r\n\r\n"),
        "GET /v1/jobs?" + std::string(100'000, 'a') + " HTTP/1.1\r\n\r\n"}) {
    const int status = ApiClient(scratch / "s").raw(bytes).status;
    CHECK((status == 0 || status >= 400));
  }
  CHECK(api.client().get("/v1/circuits").status == 200);
}

}  // namespace
}  // namespace vitrine::engine::testing
