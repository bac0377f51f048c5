// SPDX-License-Identifier: Apache-2.0
// What vitrine-http serves: exact paths, each with its answer about one watched engine.
//
// Threads  answer() runs on every listener's thread at once.
// Crash    of the engine: /status and /readyz say 503, /api/v1/snapshot keeps the last known state
//          with the verdict `dead`.
#pragma once

#include <string_view>

#include "exporters/http_message.h"
#include "exporters/http_request_rules.h"
#include "exporters/response_cache.h"
#include "exporters/watched_engine.h"

namespace vitrine::exporters {

class HttpSite {
 public:
  HttpSite(WatchedEngine& engine, RequestRules rules);

  SharedResponse answer(const RequestHead& head);

 private:
  struct Route;
  static const Route kRoutes[];

  SharedResponse status(std::string_view query);
  SharedResponse snapshot(std::string_view query);
  SharedResponse livez(std::string_view query);
  SharedResponse readyz(std::string_view query);

  WatchedEngine& engine_;
  const RequestRules rules_;
  ResponseCache cache_;
};

}  // namespace vitrine::exporters
