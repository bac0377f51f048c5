// SPDX-License-Identifier: Apache-2.0
#include "exporters/http_site.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <catch2/catch.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/exporters/beating_engine.h"
#include "tests/exporters/metric_text_check.h"
#include "tests/exporters/raw_client.h"
#include "tests/exporters/served_site.h"
#include "tests/shm/small_segment.h"

namespace vitrine::exporters::testing {

namespace {

struct Fixture {
  SharedScratchFolder directory;
  std::filesystem::path segment = directory / "main.segment";
  ServedSite site{segment};

  RawAnswer get(const std::string& target) {
    return RawClient(site.port()).ask(get_request(target));
  }
  boost::json::object get_json(const std::string& target) {
    const RawAnswer answer = get(target);
    CHECK(answer.status == 200);
    CHECK(answer.header("Content-Type") == "application/json");
    return boost::json::parse(answer.body).as_object();
  }
  std::string verdict() {
    return std::string(get_json("/api/v1/snapshot").at("engine").at("verdict").as_string());
  }
};

std::vector<std::string> keys_of(const boost::json::object& object) {
  std::vector<std::string> keys;
  for (const auto& member : object) keys.emplace_back(member.key());
  return keys;
}

}  // namespace

TEST_CASE("without an engine the exporter lives, is not ready, and says what is missing") {
  Fixture fixture;
  CHECK(fixture.get("/livez").status == 200);
  const RawAnswer readiness = fixture.get("/readyz");
  CHECK(readiness.status == 503);
  CHECK(readiness.body.find("main.segment") != std::string::npos);
  const RawAnswer status = fixture.get("/status");
  CHECK(status.status == 503);
  CHECK(status.header("Content-Type") == "application/problem+json");
  const auto problem = boost::json::parse(status.body).as_object();
  CHECK(problem.at("status").as_int64() == 503);
  CHECK(problem.at("detail").as_string().find("main.segment") != std::string::npos);
  CHECK(fixture.get_json("/api/v1/snapshot").at("seq").is_null());
}

TEST_CASE("an engine that starts later is shown") {
  Fixture fixture;
  CHECK(fixture.get("/readyz").status == 503);
  BeatingEngine engine(fixture.segment);
  engine.put_job(0, 7, shm::JobState::kQueued);
  CHECK(fixture.get("/readyz").status == 200);
  const auto status = fixture.get_json("/status");
  CHECK(keys_of(status) == std::vector<std::string>{"uptime_secs", "memory", "synthesis",
                                                    "pipelines", "gpu_workers", "allocations",
                                                    "counters", "buffers"});
  CHECK(status.at("pipelines").as_array().at(0).at("job_id").as_string() == "7");
}

TEST_CASE("an engine is ready while it takes work, not while it starts, drains or has ended") {
  Fixture fixture;
  BeatingEngine engine(fixture.segment);
  const auto readiness = [&](shm::EngineLife life) {
    engine.writer().set_life(life, 0);
    return fixture.get("/readyz");
  };
  CHECK(readiness(shm::EngineLife::kStarting).status == 503);
  CHECK(readiness(shm::EngineLife::kReady).status == 200);
  CHECK(readiness(shm::EngineLife::kDegraded).status == 200);
  const RawAnswer draining = readiness(shm::EngineLife::kDraining);
  CHECK(draining.status == 503);
  CHECK(draining.body.find("draining") != std::string::npos);
  CHECK(fixture.get("/livez").status == 200);
  CHECK(readiness(shm::EngineLife::kClosed).status == 503);
}

TEST_CASE("paths are exact") {
  Fixture fixture;
  BeatingEngine engine(fixture.segment);
  CHECK(fixture.get("/status").status == 200);
  CHECK(fixture.get("/status?time=1").status == 200);
  for (const char* target : {"/statusXYZ", "/status/", "/Status", "//status", "/%73tatus", "/..",
                             "/index.html/", "/api/v1/snapshots", "/api/v1/"}) {
    INFO(target);
    CHECK(fixture.get(target).status == 404);
  }
}

TEST_CASE("a dead engine's last state stays in the snapshot and leaves the status") {
  Fixture fixture;
  std::optional<BeatingEngine> engine(fixture.segment);
  engine->put_job(0, 7, shm::JobState::kRunning);
  CHECK(fixture.get("/status").status == 200);
  engine.reset();
  CHECK(fixture.get("/status").status == 503);
  CHECK(fixture.get("/readyz").status == 503);
  const auto snapshot = fixture.get_json("/api/v1/snapshot");
  CHECK(snapshot.at("engine").at("verdict").as_string() == "dead");
  CHECK(snapshot.at("jobs").as_array().at(0).at("job").as_string() == "7");
}

TEST_CASE("a restarted engine is attached again, with its new incarnation and without its past") {
  Fixture fixture;
  std::optional<BeatingEngine> engine(fixture.segment);
  engine->put_job(0, 7, shm::JobState::kRunning);
  const auto before = fixture.get_json("/api/v1/snapshot");
  engine.reset();
  engine.emplace(fixture.segment);
  const auto after = fixture.get_json("/api/v1/snapshot");
  CHECK(after.at("incarnation") != before.at("incarnation"));
  CHECK(after.at("incarnation").as_string() == engine->writer().incarnation());
  CHECK(after.at("jobs").as_array().empty());
  CHECK(fixture.get("/readyz").status == 200);
}

TEST_CASE("the snapshot shows what is asked for") {
  Fixture fixture;
  BeatingEngine engine(fixture.segment);
  engine.put_job(0, 7, shm::JobState::kRunning);
  engine.put_job(1, 8, shm::JobState::kQueued);
  const auto whole = fixture.get_json("/api/v1/snapshot");
  CHECK(whole.at("jobs").as_array().size() == 2);
  CHECK(whole.contains("memory"));
  const auto part = fixture.get_json("/api/v1/snapshot?sections=jobs&state=queued&kind=porep");
  CHECK_FALSE(part.contains("memory"));
  REQUIRE(part.at("jobs").as_array().size() == 1);
  CHECK(part.at("jobs").as_array().at(0).at("job").as_string() == "8");
  CHECK(part.at("engine").at("verdict").as_string() ==
        whole.at("engine").at("verdict").as_string());
  const RawAnswer refused = fixture.get("/api/v1/snapshot?sections=nothing");
  CHECK(refused.status == 400);
  CHECK(refused.body.find("nothing") != std::string::npos);
}

TEST_CASE("metrics have the format and the headers that were asked for, exactly", "[X9]") {
  Fixture fixture;
  BeatingEngine engine(fixture.segment);
  const auto ask = [&](const std::string& accept) {
    const RawAnswer answer = RawClient(fixture.site.port()).ask(get_request("/metrics", accept));
    CHECK(answer.status == 200);
    CHECK(answer.header("Cache-Control") == "no-store");
    CHECK(answer.header("X-Content-Type-Options") == "nosniff");
    CHECK(answer.header("Vary") == "Accept");
    CHECK(answer.header("Content-Length") == std::to_string(answer.body.size()));
    const bool is_open = answer.body.ends_with("# EOF\n");
    CHECK(answer.header("Content-Type") ==
          (is_open ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                   : "text/plain; version=0.0.4; charset=utf-8"));
    const ReadMetrics read = read_metrics(answer.body, is_open);
    CHECK(read.fault.value_or("") == "");
    CHECK(read.value("vitrine_up") == "1");
    CHECK(read.value("vitrine_http_connections") != "0");
    return is_open;
  };
  CHECK_FALSE(ask(""));
  CHECK_FALSE(ask("Accept: */*\r\n"));
  CHECK(ask("Accept: application/openmetrics-text\r\n"));
  CHECK_FALSE(ask("Accept: application/openmetrics-text;q=0.5\r\nAccept: text/plain\r\n"));
}

TEST_CASE("metrics are at their path, for GET and HEAD", "[X9]") {
  Fixture fixture;
  BeatingEngine engine(fixture.segment);
  RawClient client(fixture.site.port());
  client.send("HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const RawAnswer head = client.read_answer("HEAD");
  CHECK(head.status == 200);
  CHECK(std::stoul(head.header("Content-Length")) > 1'000);
  CHECK(client.ask(get_request("/livez")).body == "alive\n");  // no body came before it
  CHECK(fixture.get("/metrics?name=x").status == 200);
  CHECK(fixture.get("/metrics/").status == 404);
  CHECK(fixture.get("/metricsX").status == 404);
  const RawAnswer posted =
      RawClient(fixture.site.port()).ask("POST /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK(posted.status == 405);
  CHECK(posted.header("Allow") == "GET, HEAD");
  const ReadMetrics read = read_metrics(fixture.get("/metrics").body);
  CHECK(read.value("vitrine_http_requests_total", {{"code", "404"}}) == "2");
  CHECK(read.value("vitrine_http_requests_total", {{"code", "405"}}) == "1");
}

TEST_CASE("the page is served with its own files only") {
  Fixture fixture;
  const RawAnswer page = fixture.get("/");
  CHECK(page.status == 200);
  CHECK(page.header("Content-Type") == "text/html; charset=utf-8");
  CHECK(page.header("Content-Security-Policy").find("script-src 'self'") != std::string::npos);
  CHECK(page.header("Content-Security-Policy").find("unsafe") == std::string::npos);
  CHECK(page.body.find("<script>") == std::string::npos);
  CHECK(page.body.find("style=") == std::string::npos);
  CHECK(page.body.find("http://") == std::string::npos);
  CHECK(page.body.find("https://") == std::string::npos);
  for (const char* target : {"/app.js", "/style.css", "/icon.svg"}) {
    CHECK(page.body.find(target) != std::string::npos);
    CHECK(fixture.get(target).status == 200);
  }
  CHECK(fixture.get("/app.js").header("Content-Type") == "text/javascript; charset=utf-8");
}

TEST_CASE("clients within one interval share one answer") {
  SharedScratchFolder directory;
  BeatingEngine engine(directory / "main.segment");
  shm::Target target;
  target.path = directory / "main.segment";
  constexpr std::uint64_t kNever = ~std::uint64_t{0};
  WatchedEngine watched(target, kNever);
  HttpSite site(watched, {});
  const RequestHead head{"GET", "/status", "HTTP/1.1", {{"Host", "localhost"}}, "127.0.0.1"};
  const SharedResponse first = site.answer(head);
  CHECK(site.answer(head) == first);
  RequestHead snapshot = head;
  snapshot.target = "/api/v1/snapshot?sections=jobs,memory";
  const SharedResponse one_order = site.answer(snapshot);
  snapshot.target = "/api/v1/snapshot?sections=memory,jobs";
  CHECK(site.answer(snapshot) == one_order);
  CHECK(one_order != first);
  RequestHead metrics = head;
  metrics.target = "/metrics";
  const SharedResponse text = site.answer(metrics);
  CHECK(site.answer(metrics) == text);
  metrics.headers.push_back({"Accept", "application/openmetrics-text"});
  const SharedResponse open = site.answer(metrics);
  CHECK(open != text);
  metrics.headers.back().value = "application/openmetrics-text;q=0.9,*/*;q=0.1";
  CHECK(site.answer(metrics) == open);
}

}  // namespace vitrine::exporters::testing
