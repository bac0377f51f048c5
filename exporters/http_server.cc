// SPDX-License-Identifier: Apache-2.0
#include "exporters/http_server.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "shm/clock.h"

namespace vitrine::exporters {

namespace {

constexpr unsigned kIdleTimeoutSeconds = 20;  // a second line behind ConnectionDeadlines
constexpr std::size_t kConnectionMemoryBytes = 16 * 1024;

struct StopDaemon {
  void operator()(MHD_Daemon* daemon) const { MHD_stop_daemon(daemon); }
};
struct DestroyResponse {
  void operator()(MHD_Response* response) const { MHD_destroy_response(response); }
};
using Daemon = std::unique_ptr<MHD_Daemon, StopDaemon>;
using LibraryResponse = std::unique_ptr<MHD_Response, DestroyResponse>;

void* as_context(int descriptor) {
  return reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor));
}

int socket_of(MHD_Connection* connection) {
  const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info == nullptr ? -1 : info->connect_fd;
}

// The numeric address that the client reached; empty on a Unix socket.
std::string local_address(int descriptor) {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&storage), &length) != 0) return "?";
  char text[INET6_ADDRSTRLEN] = "?";
  if (storage.ss_family == AF_INET) {
    sockaddr_in name{};
    std::memcpy(&name, &storage, sizeof name);
    inet_ntop(AF_INET, &name.sin_addr, text, sizeof text);
  } else if (storage.ss_family == AF_INET6) {
    sockaddr_in6 name{};
    std::memcpy(&name, &storage, sizeof name);
    inet_ntop(AF_INET6, &name.sin6_addr, text, sizeof text);
  } else {
    return {};
  }
  return text;
}

MHD_Result collect_header(void* cls, MHD_ValueKind, const char* name, const char* value) {
  auto* headers = static_cast<std::vector<Header>*>(cls);
  headers->push_back(Header{name, value == nullptr ? "" : value});
  return MHD_YES;
}

void drop_shared(void* cls) { delete static_cast<SharedResponse*>(cls); }

// Wraps an answer without copying its body: the wrapper holds a share of it. The library takes a
// writable buffer but only reads it.
LibraryResponse wrap(const SharedResponse& answer) {
  auto share = std::make_unique<SharedResponse>(answer);
  LibraryResponse response(MHD_create_response_from_buffer_with_free_callback_cls(
      answer->body.size(), const_cast<char*>(answer->body.data()), drop_shared, share.get()));
  if (!response) return response;
  static_cast<void>(share.release());
  MHD_add_response_header(response.get(), "Content-Type", answer->content_type.c_str());
  MHD_add_response_header(response.get(), "Cache-Control", "no-store");
  MHD_add_response_header(response.get(), "X-Content-Type-Options", "nosniff");
  for (const Header& header : answer->headers) {
    MHD_add_response_header(response.get(), header.name.c_str(), header.value.c_str());
  }
  if (answer->connection == Connection::kClose) {
    MHD_add_response_header(response.get(), "Connection", "close");
  }
  return response;
}

// One request, from its first line to the end of its answer.
struct Request {
  std::string target;
  SharedResponse answer;  // once the head is complete
};

struct FirstLine {
  const char* method;
  const char* version;
};

SharedResponse no_room() {
  Response response = problem(503, "too many connections");
  response.headers.push_back({"Retry-After", "1"});
  response.connection = Connection::kClose;
  return std::make_shared<const Response>(std::move(response));
}

}  // namespace

struct HttpServer::Service {
  RequestHandler handler;
  ConnectionDeadlines deadlines;
  HttpActivity* activity;             // may be null
  std::vector<ListenSocket> sockets;  // released to the daemons; kept for the names they own
  std::vector<Daemon> daemons;        // ended first

  Service(RequestHandler request_handler, const ConnectionLimits& limits, HttpActivity* counted_in)
      : handler(std::move(request_handler)), deadlines(limits), activity(counted_in) {}

  // The first callback of a request: the only one that sees the target as it was sent.
  static void* begin_request(void*, const char* target, MHD_Connection*) {
    return new Request{target, nullptr};
  }

  // Called when the head is complete and again when the request is. An answer to the first call
  // ends the connection without reading on, so that is where an answer that closes is given.
  MHD_Result proceed(MHD_Connection* connection, FirstLine line, Request& request) {
    if (request.answer == nullptr) {
      request.answer = answer_to(connection, line, request.target);
      if (activity != nullptr) activity->answered(request.answer->status);
      if (request.answer->connection == Connection::kKeep) return MHD_YES;
    }
    const LibraryResponse wrapped = wrap(request.answer);
    if (!wrapped) return MHD_NO;
    const unsigned status = static_cast<unsigned>(request.answer->status);
    return MHD_queue_response(connection, status, wrapped.get());
  }

  SharedResponse answer_to(MHD_Connection* connection, FirstLine line, const std::string& target) {
    RequestHead head;
    head.method = line.method;
    head.version = line.version;
    head.target = target;
    MHD_get_connection_values(connection, MHD_HEADER_KIND, collect_header, &head.headers);
    const int descriptor = socket_of(connection);
    head.local_address = local_address(descriptor);
    return deadlines.begin_answer(descriptor, shm::monotonic_ns()) ? handler(head) : no_room();
  }

  static void finish_request(void* cls, MHD_Connection* connection, void** request,
                             MHD_RequestTerminationCode) {
    delete static_cast<Request*>(*request);
    *request = nullptr;
    static_cast<Service*>(cls)->deadlines.answered(socket_of(connection), shm::monotonic_ns());
  }

  static void watch_connection(void* cls, MHD_Connection* connection, void** context,
                               MHD_ConnectionNotificationCode what) {
    auto* service = static_cast<Service*>(cls);
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
      const int descriptor = socket_of(connection);
      *context = as_context(descriptor);
      service->deadlines.opened(descriptor, shm::monotonic_ns());
      if (service->activity != nullptr) service->activity->opened();
    } else {
      service->deadlines.closed(static_cast<int>(reinterpret_cast<std::intptr_t>(*context)));
      if (service->activity != nullptr) service->activity->closed();
    }
  }

  static const MHD_AccessHandlerCallback on_request;

  Daemon start_daemon(int listen_descriptor, const ConnectionLimits& limits) {
    return Daemon(MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_SUSPEND_RESUME, 0, nullptr, nullptr, on_request,
        this, MHD_OPTION_LISTEN_SOCKET, listen_descriptor, MHD_OPTION_CONNECTION_LIMIT,
        static_cast<unsigned>(limits.accepted), MHD_OPTION_CONNECTION_TIMEOUT, kIdleTimeoutSeconds,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, kConnectionMemoryBytes, MHD_OPTION_URI_LOG_CALLBACK,
        &begin_request, nullptr, MHD_OPTION_NOTIFY_COMPLETED, &finish_request, this,
        MHD_OPTION_NOTIFY_CONNECTION, &watch_connection, this, MHD_OPTION_END));
  }
};

// The library's own signature.
const MHD_AccessHandlerCallback HttpServer::Service::on_request =
    [](void* cls, MHD_Connection* connection, const char*, const char* method, const char* version,
       const char*, std::size_t*, void** request) {
      return static_cast<Service*>(cls)->proceed(connection, FirstLine{method, version},
                                                 *static_cast<Request*>(*request));
    };

Result<HttpServer> HttpServer::start(std::vector<ListenSocket> sockets, RequestHandler handler,
                                     const ConnectionLimits& limits, HttpActivity* activity) {
  auto service = std::make_unique<Service>(std::move(handler), limits, activity);
  service->sockets = std::move(sockets);
  for (ListenSocket& socket : service->sockets) {
    Daemon daemon = service->start_daemon(socket.release(), limits);
    if (!daemon) {
      return Error{ErrorKind::kRuntime,
                   "cannot serve on " + socket.address().text() + ": " + std::strerror(errno)};
    }
    service->daemons.push_back(std::move(daemon));
  }
  return HttpServer(std::move(service));
}

HttpServer::HttpServer(std::unique_ptr<Service> service) : service_(std::move(service)) {}
HttpServer::HttpServer(HttpServer&&) noexcept = default;
HttpServer::~HttpServer() = default;

void HttpServer::shut_down_late(std::uint64_t now_ns) {
  service_->deadlines.shut_down_late(now_ns);
}

std::size_t HttpServer::connection_count() const { return service_->deadlines.count(); }

}  // namespace vitrine::exporters
