// SPDX-License-Identifier: Apache-2.0
// What vitrine-http serves: exact paths, each with its answer about one watched engine.
//
// Threads  answer() runs on every listener's thread at once.
// Crash    of the engine: /status and /readyz say 503, /api/v1/snapshot keeps the last known state
//          with the verdict `dead`; /metrics has vitrine_up 0 and nothing else of the engine.
#pragma once

#include <cstdint>
#include <string_view>

#include "exporters/http_activity.h"
#include "exporters/http_message.h"
#include "exporters/http_request_rules.h"
#include "exporters/response_cache.h"
#include "exporters/watched_engine.h"

namespace vitrine::exporters {

class HttpSite {
 public:
  // `activity` is that of the server in front, for /metrics; it must outlive the site.
  HttpSite(WatchedEngine& engine, RequestRules rules, const HttpActivity* activity = nullptr);

  SharedResponse answer(const RequestHead& head);

 private:
  struct Route;
  static const Route kRoutes[];

  SharedResponse status(const RequestHead& head, std::string_view query);
  SharedResponse snapshot(const RequestHead& head, std::string_view query);
  SharedResponse metrics(const RequestHead& head, std::string_view query);
  SharedResponse livez(const RequestHead& head, std::string_view query);
  SharedResponse readyz(const RequestHead& head, std::string_view query);

  WatchedEngine& engine_;
  const RequestRules rules_;
  const HttpActivity* const activity_;
  const std::int64_t started_unix_ns_;
  ResponseCache cache_;
};

}  // namespace vitrine::exporters
