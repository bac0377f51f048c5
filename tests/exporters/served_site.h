// SPDX-License-Identifier: Apache-2.0
// The whole of vitrine-http inside the test: a site about one segment, on a port of its own.
#pragma once

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "exporters/http_server.h"
#include "exporters/http_site.h"

namespace vitrine::exporters::testing {

inline std::vector<ListenSocket> bind_any_port() {
  std::vector<ListenSocket> sockets;
  sockets.push_back(ListenSocket::bind(parse_listen_address("127.0.0.1:0").value()).value());
  return sockets;
}

class ServedSite {
 public:
  explicit ServedSite(const std::filesystem::path& segment, const ConnectionLimits& limits = {})
      : ServedSite(segment, bind_any_port(), limits) {}

  std::uint16_t port() const { return port_; }
  HttpServer& server() { return server_; }

 private:
  ServedSite(const std::filesystem::path& segment, std::vector<ListenSocket> sockets,
             const ConnectionLimits& limits)
      : engine_(target_of(segment), 0),
        site_(engine_, {}, &activity_),
        port_(sockets.front().address().port),
        server_(HttpServer::start(
                    std::move(sockets),
                    [this](const RequestHead& head) { return site_.answer(head); }, limits,
                    &activity_)
                    .value()) {}

  static shm::Target target_of(const std::filesystem::path& segment) {
    shm::Target target;
    target.path = segment;
    return target;
  }

  WatchedEngine engine_;  // observes anew for every request
  HttpActivity activity_;
  HttpSite site_;
  std::uint16_t port_;
  HttpServer server_;
};

}  // namespace vitrine::exporters::testing
