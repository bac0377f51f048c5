// SPDX-License-Identifier: Apache-2.0
#include "engine/api_server.h"

#include <fcntl.h>
#include <microhttpd.h>
#include <strings.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <map>
#include <string>
#include <string_view>

#include "engine/api_deadlines.h"
#include "engine/api_upload.h"
#include "engine/exception_guard.h"
#include "engine/quantities.h"

namespace vitrine::engine {
namespace {

constexpr unsigned kIdleTimeoutSeconds = 30;
constexpr std::chrono::minutes kUploadPatience{30};  // from the head to the last byte
// How much of a refused body is still taken, so that the client reads why.
constexpr std::uint64_t kDiscardedBytesMax = std::uint64_t{64} << 20;

struct Server {
  ApiRoutes& routes;
  Spool& spool;
  ApiServer::Limits limits;
  ApiDeadlines deadlines{limits.head_patience};
  std::atomic<unsigned> requests{0};
};

// One request from its head to its answer.
struct Exchange {
  Exchange(Server& its_server, Spool& spool)
      : server(its_server), upload(spool, its_server.limits.upload_bytes) {
    ++server.requests;
  }
  ~Exchange() { --server.requests; }

  Server& server;
  ApiUpload upload;
  ApiRequest request;
  std::optional<ApiResponse> refusal;  // to be sent when the body is over
  std::uint64_t discarded_bytes = 0;
  std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
};

bool has_control_letter(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char letter) {
    const auto byte = static_cast<unsigned char>(letter);
    return byte < 0x20 || byte == 0x7F;
  });
}

struct Query {
  std::map<std::string, std::string>& parameters;
  std::string fault;  // empty when nothing is wrong
};

const MHD_KeyValueIteratorN collect_parameter = [](void* into, MHD_ValueKind, const char* name,
                                                   std::size_t name_size, const char* value,
                                                   std::size_t value_size) -> MHD_Result {
  Query& query = *static_cast<Query*>(into);
  const std::string_view known(name, name_size);
  const std::string_view text = value == nullptr ? "" : std::string_view(value, value_size);
  if (has_control_letter(known) || has_control_letter(text)) {
    query.fault = "a parameter holds a control character";
  } else if (!query.parameters.emplace(known, text).second) {
    query.fault = "parameter '" + std::string(known) + "' is given twice";
  }
  return query.fault.empty() ? MHD_YES : MHD_NO;
};

// What frames the body must say one thing only: two readers of two lengths read two requests.
MHD_Result count_framing(void* count, MHD_ValueKind, const char* name, const char*) {
  const bool is_framing = ::strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0 ||
                          ::strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0;
  if (is_framing) ++*static_cast<unsigned*>(count);
  return MHD_YES;
}

// Reads the head into `request`; what is wrong with it.
std::string take_head(MHD_Connection* connection, ApiRequest& request) {
  unsigned framing = 0;
  MHD_get_connection_values(connection, MHD_HEADER_KIND, &count_framing, &framing);
  if (framing > 1) return "more than one of Content-Length and Transfer-Encoding";
  Query query{request.query, {}};
  MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, collect_parameter, &query);
  return query.fault;
}

int descriptor_of(MHD_Connection* connection) {
  const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info == nullptr ? -1 : info->connect_fd;
}

bool has_left(MHD_Connection* connection) {
  char byte = 0;
  return ::recv(descriptor_of(connection), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

MHD_Result send(MHD_Connection* connection, const ApiResponse& answer) {
  MHD_Response* response = MHD_create_response_from_buffer(
      answer.body.size(), const_cast<char*>(answer.body.data()), MHD_RESPMEM_MUST_COPY);
  if (response == nullptr) return MHD_NO;
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer.content_type.c_str());
  MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
  MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
  for (const auto& [name, value] : answer.headers) {
    MHD_add_response_header(response, name.c_str(), value.c_str());
  }
  const MHD_Result queued = MHD_queue_response(connection, answer.status, response);
  MHD_destroy_response(response);
  return queued;
}

const char* header_of(MHD_Connection* connection, const char* name) {
  return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

// Zero when the head does not tell.
std::uint64_t body_bytes(MHD_Connection* connection) {
  const char* header = header_of(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);
  const std::string_view text = header == nullptr ? "" : header;
  std::uint64_t bytes = 0;
  std::from_chars(text.data(), text.data() + text.size(), bytes);
  return bytes;
}

std::optional<ApiResponse> refuse_body(MHD_Connection* connection, std::uint64_t limit_bytes) {
  if (body_bytes(connection) <= limit_bytes) return std::nullopt;
  return problem(413, "the body is longer than " + size_text(limit_bytes));
}

// A client that is still sending when the connection ends may never read the answer: unless it
// waits for leave to send, the body is taken first, when that is within reason.
MHD_Result refuse(MHD_Connection* connection, Exchange& exchange, ApiResponse refusal) {
  const bool waits = header_of(connection, MHD_HTTP_HEADER_EXPECT) != nullptr;
  const std::uint64_t bytes = body_bytes(connection);
  const bool has_body =
      bytes > 0 || header_of(connection, MHD_HTTP_HEADER_TRANSFER_ENCODING) != nullptr;
  if (waits || !has_body || bytes > kDiscardedBytesMax) return send(connection, refusal);
  exchange.refusal = std::move(refusal);
  return MHD_YES;
}

MHD_Result begin_exchange(Server& server, MHD_Connection* connection, const char* method,
                          const char* path, Exchange*& exchange) {
  exchange = new Exchange(server, server.spool);
  server.deadlines.head_arrived(descriptor_of(connection));
  ApiRequest& request = exchange->request;
  request.method = method;
  request.path = path;
  if (const std::string fault = take_head(connection, request); !fault.empty()) {
    return send(connection, problem(400, fault));
  }
  request.has_client_left = [connection] { return has_left(connection); };
  if (server.requests.load() > ApiServer::kRequestsMax) {
    return refuse(connection, *exchange, problem(503, "too many requests at once"));
  }
  if (auto refusal = server.routes.refuse_early(request)) {
    return refuse(connection, *exchange, std::move(*refusal));
  }
  if (auto refusal = refuse_body(connection, server.limits.upload_bytes)) {
    return refuse(connection, *exchange, std::move(*refusal));
  }
  exchange->upload.begin(connection);
  return MHD_YES;
}

ApiResponse answer(Exchange& exchange) {
  if (exchange.refusal) return *exchange.refusal;
  if (auto wrong = exchange.upload.finish(exchange.request)) return *wrong;
  const auto answered = guard_all("request", [&]() -> Result<ApiResponse> {
    return exchange.server.routes.answer(std::move(exchange.request));
  });
  return answered ? *answered : problem(500, answered.error().text);
}

// The library calls it once with the head of a request, then with each piece of its body.
const MHD_AccessHandlerCallback handle =
    [](void* context, MHD_Connection* connection, const char* path, const char* method, const char*,
       const char* upload_data, std::size_t* upload_size, void** state) -> MHD_Result {
  auto* exchange = static_cast<Exchange*>(*state);
  if (exchange == nullptr) {
    const MHD_Result begun =
        begin_exchange(*static_cast<Server*>(context), connection, method, path, exchange);
    *state = exchange;
    return begun;
  }
  if (*upload_size == 0) return send(connection, answer(*exchange));
  const bool is_refused = exchange->refusal || exchange->upload.failure();
  if (is_refused) exchange->discarded_bytes += *upload_size;
  const bool is_late = std::chrono::steady_clock::now() - exchange->began > kUploadPatience;
  if (is_late || exchange->discarded_bytes > kDiscardedBytesMax) return MHD_NO;
  if (!is_refused) (void)exchange->upload.take(upload_data, *upload_size);
  *upload_size = 0;
  return MHD_YES;
};

void completed(void* context, MHD_Connection* connection, void** state,
               MHD_RequestTerminationCode) {
  delete static_cast<Exchange*>(*state);
  *state = nullptr;
  static_cast<Server*>(context)->deadlines.await_head(descriptor_of(connection));
}

void connection_changed(void* context, MHD_Connection* connection, void**,
                        MHD_ConnectionNotificationCode change) {
  ApiDeadlines& deadlines = static_cast<Server*>(context)->deadlines;
  const int descriptor = descriptor_of(connection);
  if (change == MHD_CONNECTION_NOTIFY_STARTED) {
    deadlines.await_head(descriptor);
  } else {
    deadlines.closed(descriptor);
  }
}

struct StopDaemon {
  void operator()(MHD_Daemon* daemon) const { MHD_stop_daemon(daemon); }
};

}  // namespace

// The library closes a listening socket it was given, so it gets a duplicate.
struct ApiServer::Parts {
  ApiSocket socket;
  Server server;
  std::unique_ptr<MHD_Daemon, StopDaemon> daemon;
};

ApiServer::ApiServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
ApiServer::~ApiServer() = default;

Result<std::unique_ptr<ApiServer>> ApiServer::start(ApiSocket socket, ApiRoutes& routes,
                                                    Spool& spool, const Limits& limits) {
  auto parts =
      std::unique_ptr<Parts>(new Parts{std::move(socket), {routes, spool, limits}, nullptr});
  const int listening = ::fcntl(parts->socket.descriptor(), F_DUPFD_CLOEXEC, 3);
  const unsigned flags =
      MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ITC;
  parts->daemon.reset(MHD_start_daemon(
      flags, 0, nullptr, nullptr, handle, &parts->server, MHD_OPTION_LISTEN_SOCKET, listening,
      MHD_OPTION_CONNECTION_LIMIT, kConnectionsMax, MHD_OPTION_CONNECTION_TIMEOUT,
      kIdleTimeoutSeconds, MHD_OPTION_NOTIFY_COMPLETED, &completed, &parts->server,
      MHD_OPTION_NOTIFY_CONNECTION, &connection_changed, &parts->server, MHD_OPTION_END));
  if (!parts->daemon) {
    if (listening >= 0) ::close(listening);
    return Error{ErrorClass::kInternal, "the API server cannot start"};
  }
  return std::unique_ptr<ApiServer>(new ApiServer(std::move(parts)));
}

}  // namespace vitrine::engine
