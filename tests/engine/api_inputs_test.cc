// SPDX-License-Identifier: Apache-2.0
// Inputs on their way in: parts of a form, or names of files on the server.
#include <catch2/catch.hpp>

#include "tests/engine/api_fixture.h"
#include "tests/engine/witness_script.h"

namespace vitrine::engine::testing {
namespace {

using Catch::Matchers::Contains;

constexpr const char* kJobs = "/v1/jobs?circuit=demo";

std::function<void(EngineOptions&)> with(const WitnessScript& script) {
  return [&](EngineOptions& options) { script.configure(options); };
}

std::string part(const std::string& name, const std::string& body) {
  return "--edge\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + body + "\r\n";
}

ApiAnswer post_parts(const ApiClient& client, const std::string& parts) {
  return client.send("POST", kJobs, "multipart/form-data; boundary=edge", parts + "--edge--\r\n");
}

TEST_CASE("a form of inputs is a job whose partitions are proved, and its files go") {
  const WitnessScript script("cat \"$1\" >>$3/seen; " + copy_witness());
  ApiFixture api({}, with(script));
  const ApiAnswer answer = api.client().post_form(kJobs, {"{\"n\": 1}", "{\"n\": 2}"}, "input");
  REQUIRE(answer.status == 202);
  const std::string id = text_of(json::parse(answer.body).as_object(), "job");
  CHECK(text_of(api.final_job(id), "state") == "done");
  CHECK(read_file(script.note("seen")) == "{\"n\": 1}{\"n\": 2}");
  api.await_empty_spool();
}

TEST_CASE("prove takes an input and answers with the proof, or with what the command said") {
  const WitnessScript script("grep -q good \"$1\" || { echo 'error: not good' >&2; exit 1; }; " +
                             copy_witness());
  ApiFixture api({}, with(script));
  const std::string target = "/v1/prove?circuit=demo";
  const ApiAnswer proved = api.client().post_form(target, {"good"}, "input");
  CHECK(proved.status == 200);
  CHECK(json::parse(proved.body).as_object().contains("proof"));
  const ApiAnswer refused = api.client().post_form(target, {"bad"}, "input");
  CHECK(refused.status == 422);
  CHECK_THAT(detail_of(refused),
             Contains("input 0 (w): witness_command exited with 1: error: not good"));
}

TEST_CASE("files on the server can be inputs, and stay where they are") {
  const WitnessScript script("cat \"$1\" >>$3/seen; " + copy_witness());
  ApiFixture api({}, with(script));
  const auto file = api.write_input("a.json", "{\"n\": 7}");
  const std::string body = "{\"inputs\": [\"" + file.string() + "\"]}";
  const ApiAnswer answer = api.client().send("POST", kJobs, "application/json", body);
  REQUIRE(answer.status == 202);
  const std::string id = text_of(json::parse(answer.body).as_object(), "job");
  CHECK(text_of(api.final_job(id), "state") == "done");
  CHECK(read_file(script.note("seen")) == "{\"n\": 7}");
  CHECK(read_file(file) == "{\"n\": 7}");
  const ApiAnswer outside =
      api.client().send("POST", kJobs, "application/json", "{\"inputs\": [\"/etc/passwd\"]}");
  CHECK(outside.status == 400);
  CHECK_THAT(detail_of(outside), Contains("input '/etc/passwd' is not a file inside"));
}

TEST_CASE("a file on the server that is longer than an upload may be fails its job") {
  const WitnessScript script(copy_witness());
  ApiFixture api({}, [&](EngineOptions& options) {
    script.configure(options);
    options.configuration.upload_limit_bytes = 8;
  });
  const auto file = api.write_input("long.json", "{\"n\": 123456789}");
  const std::string body = "{\"inputs\": [\"" + file.string() + "\"]}";
  const ApiAnswer answer =
      api.client().send("POST", "/v1/prove?circuit=demo", "application/json", body);
  CHECK(answer.status == 422);
  CHECK_THAT(detail_of(answer), Contains("has 16 bytes, more than the 8 bytes of upload_limit"));
}

TEST_CASE("witnesses and inputs in one job are refused, in a form and in JSON") {
  const WitnessScript script(copy_witness());
  ApiFixture api({}, with(script));
  for (const auto& parts :
       {part("witness", "a") + part("input", "b"), part("input", "a") + part("witness", "b")}) {
    const ApiAnswer answer = post_parts(api.client(), parts);
    CHECK(answer.status == 400);
    CHECK(detail_of(answer) == "a job has witnesses or inputs, not both");
  }
  const ApiAnswer both = api.client().send("POST", kJobs, "application/json",
                                           "{\"inputs\": [\"/a\"], \"witnesses\": [\"/b\"]}");
  CHECK(both.status == 400);
  CHECK(detail_of(both) == "a job has witnesses or inputs, not both");
  const ApiAnswer empty = post_parts(api.client(), part("input", "a") + part("input", ""));
  CHECK(detail_of(empty) == "input 1 is empty");
  const ApiAnswer other = post_parts(api.client(), part("key", "a"));
  CHECK(detail_of(other) == "each part of the form must be named witness, or each input");
  api.await_empty_spool();
}

TEST_CASE("an input for a circuit without a command is refused with 422 and the reason") {
  ApiFixture api;
  const ApiAnswer answer = api.client().post_form(kJobs, {"{}"}, "input");
  CHECK(answer.status == 422);
  CHECK_THAT(detail_of(answer), Contains("circuit demo has no witness_command"));
  api.await_empty_spool();
}

}  // namespace
}  // namespace vitrine::engine::testing
