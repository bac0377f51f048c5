// SPDX-License-Identifier: Apache-2.0
// ApiServer: HTTP over the engine's Unix socket.
//
// Threads: one per connection. Beyond kConnectionsMax those that have sent no whole request go, the
// longest waiting first; beyond kLongRequestsMax uploads and waiting requests the answer is 503, so
// that orders always find room.
// Why: a thread per connection keeps a waiting request and a slow upload simple; the clients are a
// few programs of this host.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "engine/api_routes.h"
#include "engine/api_socket.h"
#include "engine/spool.h"

namespace vitrine::engine {

class ApiServer {
 public:
  static constexpr unsigned kConnectionsMax = 160;
  static constexpr unsigned kLongRequestsMax = 128;

  struct Limits {
    std::uint64_t upload_bytes = std::uint64_t{4} << 30;    // of one request
    std::chrono::milliseconds head_patience{10'000};        // for a whole head to arrive
    std::chrono::milliseconds body_patience{30'000};        // that a body may be behind its rate
    std::chrono::milliseconds crowding_told_every{60'000};  // at most
  };
  // Takes a line for the log; from a thread of the server.
  using Warn = std::function<void(std::string)>;

  // Serves `socket` until destroyed; routes and spool outlive the server. `warn` hears when there
  // were too many connections. kInternal when the library cannot start.
  [[nodiscard]] static Result<std::unique_ptr<ApiServer>> start(ApiSocket socket, ApiRoutes& routes,
                                                                Spool& spool, const Limits& limits,
                                                                Warn warn);
  // Waits for requests being answered.
  ~ApiServer();

 private:
  struct Parts;
  explicit ApiServer(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace vitrine::engine
