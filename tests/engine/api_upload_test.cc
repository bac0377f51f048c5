// SPDX-License-Identifier: Apache-2.0
// Witnesses as they are uploaded: which is which, and what they are called.
#include "tests/engine/api_fixture.h"

namespace vitrine::engine::testing {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

TEST_CASE("an empty witness of a form is refused by its number, never left out") {
  ApiFixture api;
  const std::string w = witness(1);
  for (const char* target : {"/v1/jobs?circuit=demo", "/v1/prove?circuit=demo"}) {
    const std::pair<std::vector<std::string>, const char*> forms[] = {
        {{w, "", w}, "witness 1 (w) is empty"},
        {{"", w}, "witness 0 (w) is empty"},
        {{w, ""}, "witness 1 (w) is empty"},
        {{""}, "witness 0 (w) is empty"}};
    for (const auto& [bodies, text] : forms) {
      const ApiAnswer answer = api.client().post_form(target, bodies);
      CHECK(answer.status == 400);
      CHECK(detail_of(answer) == text);
    }
  }
  CHECK(json::parse(api.client().get("/v1/jobs").body).as_object().at("jobs").as_array().empty());
  api.await_empty_spool();
}

// A form with one witness, which the client calls `file_name`.
std::string form_of(const std::string& file_name, const std::string& bytes) {
  return "--edge\r\nContent-Disposition: form-data; name=\"witness\"; filename=\"" + file_name +
         "\"\r\n\r\n" + bytes + "\r\n--edge--\r\n";
}

TEST_CASE("a body that is no form says so") {
  ApiFixture api;
  const auto post = [&](const std::string& type, const std::string& body) {
    const ApiAnswer answer = api.client().send("POST", "/v1/jobs?circuit=demo", type, body);
    CHECK(answer.status == 400);
    return detail_of(answer);
  };
  const std::string form = "multipart/form-data; boundary=edge";
  CHECK_THAT(post(form, "garbage"), Contains("not multipart/form-data"));
  CHECK_THAT(post(form, form_of("w", "x").substr(0, 80)), Contains("not multipart/form-data"));
  CHECK_THAT(post("multipart/form-data", form_of("w", "x")), Contains("boundary"));
  api.await_empty_spool();
}

TEST_CASE("a failure names the client's file and the partition, never the engine's copy") {
  ApiFixture api;
  const auto failure_of = [&](const std::string& type, const std::string& body) {
    const ApiAnswer accepted = api.client().send("POST", "/v1/jobs?circuit=demo", type, body);
    REQUIRE(accepted.status == 202);
    const json::object job = api.final_job(text_of(json::parse(accepted.body).as_object(), "job"));
    CHECK(text_of(job, "state") == "failed");
    const std::string failure = text_of(job, "failure");
    CHECK_THAT(failure, !Contains("spool"));
    return failure;
  };
  const std::string wrong = read_file(circuit_folder("bn128", "multiplier") / "witness.1.wtns");
  const std::string form = "multipart/form-data; boundary=edge";
  CHECK_THAT(failure_of(form, form_of("mine.wtns", wrong)),
             StartsWith("witness 0 (mine.wtns): section 1: 4 values"));
  CHECK_THAT(failure_of(form, form_of("a\xFF\xC2\x9B.wtns", "x")),
             StartsWith("witness 0 (a\\xff\\xc2\\x9b.wtns): "));
  CHECK_THAT(failure_of(form, form_of(std::string(1000, 'n') + ".wtns", "x")),
             StartsWith("witness 0 (...nn") && Contains("n.wtns): "));
  CHECK_THAT(failure_of("application/octet-stream", wrong), StartsWith("witness 0: section 1"));
}

}  // namespace
}  // namespace vitrine::engine::testing
