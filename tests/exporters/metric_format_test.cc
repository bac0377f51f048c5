// SPDX-License-Identifier: Apache-2.0
#include "exporters/metric_format.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace vitrine::exporters::testing {

namespace {

bool is_open_for(const std::vector<std::string>& accepts) {
  RequestHead head;
  for (const std::string& accept : accepts) head.headers.push_back({"accept", accept});
  return metric_format_for(head) == MetricFormat::kOpenMetrics;
}

}  // namespace

TEST_CASE("a client gets the format that it gives the higher quality", "[X9]") {
  const std::string prometheus =
      "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;"
      "q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
  const std::string open = "application/openmetrics-text";
  const std::vector<std::string> accepts = {prometheus,
                                            open,
                                            open + "; version=1.0.0; charset=utf-8",
                                            open + ";version=\"1.0.0\"",
                                            "text/plain;q=0.3, " + open + ";q=0.4",
                                            "Application/OpenMetrics-Text , text/*;q=0.9",
                                            open + " ; Q=0.001, text/plain;q=0",
                                            open + ", */*;q=0.9",
                                            "text/plain;version=\"1,2\", " + open,
                                            "application/*"};
  for (const std::string& accept : accepts) {
    INFO(accept);
    CHECK(is_open_for({accept}));
  }
  CHECK(is_open_for({"text/plain;q=0.5", open}));
}

TEST_CASE("a client that wants both alike, or neither, gets Prometheus text", "[X9]") {
  const std::string open = "application/openmetrics-text";
  const std::vector<std::string> accepts = {"",
                                            "*/*",
                                            "text/html, */*;q=0.8",
                                            "application/json",
                                            open + ", text/plain",
                                            open + ";q=0",
                                            open + ";q=0, */*",
                                            open + ";version=0.0.1",
                                            open + ";version=2.0.0",
                                            open + ";q=1.001",
                                            open + ";q=nan",
                                            open + ";q=0.5,text/plain;q=0.50",
                                            open + "/x",
                                            ";;;,,,q=1,=;\"\\"};
  for (const std::string& accept : accepts) {
    INFO(accept);
    CHECK_FALSE(is_open_for({accept}));
  }
  CHECK_FALSE(is_open_for({}));
}

}  // namespace vitrine::exporters::testing
