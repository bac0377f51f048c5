// SPDX-License-Identifier: Apache-2.0
// Serves GET and HEAD requests over sockets: hands each head to one handler and sends its answer.
//
// Threads  one epoll thread of the server library for each socket; the handler runs on them.
// Cost     no thread a connection; an answer that many clients get is never copied.
// Crash    none: a client can only end its own connection.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "exporters/connection_deadlines.h"
#include "exporters/error.h"
#include "exporters/http_activity.h"
#include "exporters/http_message.h"
#include "exporters/listen_socket.h"

namespace vitrine::exporters {

class HttpServer {
 public:
  // Takes the sockets and serves at once; counts in `activity`, which must outlive the server.
  // kRuntime when the library cannot start.
  [[nodiscard]] static Result<HttpServer> start(std::vector<ListenSocket> sockets,
                                                RequestHandler handler,
                                                const ConnectionLimits& limits = {},
                                                HttpActivity* activity = nullptr);

  HttpServer(HttpServer&&) noexcept;
  HttpServer& operator=(HttpServer&&) = delete;
  ~HttpServer();  // ends every connection and waits for the threads

  // Ends connections that are past their deadline. Call a few times a second.
  void shut_down_late(std::uint64_t now_ns);
  std::size_t connection_count() const;

 private:
  struct Service;
  explicit HttpServer(std::unique_ptr<Service> service);
  std::unique_ptr<Service> service_;
};

}  // namespace vitrine::exporters
