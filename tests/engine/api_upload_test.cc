// SPDX-License-Identifier: Apache-2.0
// Witnesses as they are uploaded: which is which, and what they are called.
#include "tests/engine/api_fixture.h"

namespace vitrine::engine::testing {
namespace {

using Catch::Matchers::Contains;

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

}  // namespace
}  // namespace vitrine::engine::testing
