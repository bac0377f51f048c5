// SPDX-License-Identifier: Apache-2.0
#include "exporters/http_site.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "exporters/engine_metrics.h"
#include "exporters/exporter_metrics.h"
#include "exporters/http_page.h"
#include "exporters/json_text.h"
#include "exporters/metric_format.h"
#include "exporters/metric_text.h"
#include "exporters/snapshot_query.h"
#include "exporters/status_document.h"
#include "shm/clock.h"
#include "shm/snapshot_json.h"

namespace vitrine::exporters {

namespace {

SharedResponse shared(Response response) {
  return std::make_shared<const Response>(std::move(response));
}

SharedResponse refused(const Refusal& refusal) {
  Response response = problem(refusal.status, refusal.detail);
  if (refusal.status == 405) response.headers.push_back({"Allow", "GET, HEAD"});
  response.connection = Connection::kClose;
  return shared(std::move(response));
}

Response json_response(const boost::json::value& document) {
  return data_response(200, "application/json", json_text(document) + "\n");
}

Response plain_response(int status, const std::string& text) {
  return data_response(status, "text/plain; charset=utf-8", text + "\n");
}

std::string verdict_text(const shm::Observation& observation) {
  return "engine " + std::string(shm::word(observation.verdict.word)) + ": " +
         observation.verdict.reason;
}

Response status_response(const shm::Observation& observation) {
  if (is_gone(observation)) return problem(503, verdict_text(observation));
  return json_response(status_document(*observation.snapshot));
}

Response snapshot_response(const shm::Observation& observation, const SnapshotQuery& query) {
  if (!query.chooses_jobs() || !observation.snapshot) {
    return json_response(shm::to_json(observation, query.sections));
  }
  shm::Observation chosen = observation;
  keep_chosen_jobs(*chosen.snapshot, query);
  return json_response(shm::to_json(chosen, query.sections));
}

Response readiness_response(const shm::Observation& observation) {
  if (shm::is_ready(observation.verdict.word)) return plain_response(200, "ready");
  return plain_response(503, "not ready: " + verdict_text(observation));
}

}  // namespace

// Probes come from whatever address a supervisor uses, so they are answered under any Host.
enum class HostRule { kOwn, kAny };

struct HttpSite::Route {
  std::string_view path;
  HostRule host;
  SharedResponse (HttpSite::*answer)(const RequestHead& head, std::string_view query);
};

const HttpSite::Route HttpSite::kRoutes[] = {
    {"/status", HostRule::kOwn, &HttpSite::status},
    {"/api/v1/snapshot", HostRule::kOwn, &HttpSite::snapshot},
    {"/metrics", HostRule::kOwn, &HttpSite::metrics},
    {"/livez", HostRule::kAny, &HttpSite::livez},
    {"/readyz", HostRule::kAny, &HttpSite::readyz},
};

HttpSite::HttpSite(WatchedEngine& engine, RequestRules rules, const HttpActivity* activity)
    : engine_(engine),
      rules_(std::move(rules)),
      activity_(activity),
      started_unix_ns_(shm::unix_ns()) {}

SharedResponse HttpSite::answer(const RequestHead& head) {
  if (const std::optional<Refusal> refusal = refuse_malformed(head)) return refused(*refusal);
  const std::string_view target = head.target;
  const std::size_t mark = std::min(target.find('?'), target.size());
  const std::string_view path = target.substr(0, mark);
  const std::string_view query = target.substr(std::min(mark + 1, target.size()));
  const auto route = std::find_if(std::begin(kRoutes), std::end(kRoutes),
                                  [path](const Route& item) { return item.path == path; });
  const bool found = route != std::end(kRoutes);
  if (!found || route->host == HostRule::kOwn) {
    if (const std::optional<Refusal> refusal = refuse_foreign(head, rules_)) {
      return refused(*refusal);
    }
  }
  if (found) return (this->*route->answer)(head, query);
  if (std::optional<Response> page = page_response(path)) return shared(*std::move(page));
  return shared(problem(404, "nothing is served at this path"));
}

SharedResponse HttpSite::status(const RequestHead&, std::string_view) {
  return cache_.get(*engine_.moment(), "status", status_response);
}

SharedResponse HttpSite::snapshot(const RequestHead&, std::string_view query_text) {
  const Result<SnapshotQuery> query = parse_snapshot_query(query_text);
  if (!query) return shared(problem(400, query.error().text));
  return cache_.get(*engine_.moment(), "snapshot\n" + query->canonical_text(),
                    [&query](const shm::Observation& observation) {
                      return snapshot_response(observation, *query);
                    });
}

SharedResponse HttpSite::metrics(const RequestHead& head, std::string_view) {
  const MetricFormat format = metric_format_for(head);
  const auto moment = engine_.moment();
  const auto build = [&](const shm::Observation&) {
    MetricFamilies families;
    add_engine_metrics(families, moment->observation);
    add_exporter_metrics(families, *moment);
    if (activity_ != nullptr) add_http_metrics(families, *activity_);
    add_process_metrics(families, started_unix_ns_);
    Response response =
        data_response(200, std::string(content_type_of(format)), metric_text(families, format));
    response.headers.push_back({"Vary", "Accept"});
    return response;
  };
  return cache_.get(*moment, "metrics\n" + std::string(content_type_of(format)), build);
}

SharedResponse HttpSite::livez(const RequestHead&, std::string_view) {
  return shared(plain_response(200, "alive"));
}

SharedResponse HttpSite::readyz(const RequestHead&, std::string_view) {
  return cache_.get(*engine_.moment(), "readyz", readiness_response);
}

}  // namespace vitrine::exporters
