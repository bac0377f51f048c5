// SPDX-License-Identifier: Apache-2.0
// ApiServer: HTTP over the engine's Unix socket.
//
// Threads: one per connection, at most kConnectionsMax; beyond kRequestsMax requests at once the
// answer is 503.
// Why: a thread per connection keeps a waiting request and a slow upload simple; the clients are a
// few programs of this host.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "engine/api_routes.h"
#include "engine/api_socket.h"
#include "engine/spool.h"

namespace vitrine::engine {

class ApiServer {
 public:
  static constexpr unsigned kConnectionsMax = 160;
  static constexpr unsigned kRequestsMax = 128;

  struct Limits {
    std::uint64_t upload_bytes = std::uint64_t{4} << 30;  // of one request
    std::chrono::milliseconds head_patience{30'000};      // for a whole head to arrive
  };

  // Serves `socket` until destroyed; routes and spool outlive the server. kInternal when the
  // library cannot start.
  [[nodiscard]] static Result<std::unique_ptr<ApiServer>> start(ApiSocket socket, ApiRoutes& routes,
                                                                Spool& spool, const Limits& limits);
  // Waits for requests being answered.
  ~ApiServer();

 private:
  struct Parts;
  explicit ApiServer(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace vitrine::engine
