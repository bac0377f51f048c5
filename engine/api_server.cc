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

#include "engine/api_body_pace.h"
#include "engine/api_deadlines.h"
#include "engine/api_upload.h"
#include "engine/exception_guard.h"
#include "engine/quantities.h"

namespace vitrine::engine {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kAnswerPatience{30};  // for the client to take it whole
constexpr std::size_t kTargetBytesMax = std::size_t{8} << 10;
constexpr std::size_t kRequestHeadBytesMax = std::size_t{32} << 10;
// A head that does not fit is refused by the library, with a page of its own: so there is room for
// more than is taken, of which only the pages that are used cost memory.
constexpr std::size_t kConnectionMemoryBytes = std::size_t{256} << 10;
// The library's own limit, at which it would close connections without a word: never reached while
// those that were shut down end.
constexpr unsigned kAcceptedMax = 2 * ApiServer::kConnectionsMax;
// How much of a refused body is still taken, so that the client reads why.
constexpr std::uint64_t kDiscardedBytesMax = std::uint64_t{64} << 20;

// Of the engine's whole load, so that it is worth asking again.
ApiResponse busy(const std::string& detail) {
  ApiResponse response = problem(503, detail);
  response.headers["Retry-After"] = "1";
  return response;
}

// For a connection at which the library is not at an answer.
std::string farewell() {
  const ApiResponse answer = busy("too many connections at once, and this one had sent no request");
  return "HTTP/1.1 503 Service Unavailable\r\nContent-Type: " + answer.content_type +
         "\r\nRetry-After: " + answer.headers.at("Retry-After") +
         "\r\nConnection: close\r\nContent-Length: " + std::to_string(answer.body.size()) +
         "\r\n\r\n" + answer.body;
}

struct Server {
  ApiRoutes& routes;
  Spool& spool;
  ApiServer::Limits limits;
  ApiServer::Warn warn;
  ApiDeadlines deadlines{
      {ApiServer::kConnectionsMax, limits.head_patience, limits.crowding_told_every},
      farewell(),
      [this](const ApiDeadlines::Crowding& crowding) { tell(crowding); }};
  std::atomic<unsigned> long_requests{0};

  void tell(const ApiDeadlines::Crowding& crowding) const {
    warn("closed " + std::to_string(crowding.closed) +
         " connections without a whole request, refused " + std::to_string(crowding.refused) +
         " requests");
  }
};

// One request from its head to its answer.
struct Exchange {
  explicit Exchange(Server& its_server)
      : server(its_server), upload(its_server.spool, its_server.limits.upload_bytes) {}
  ~Exchange() {
    if (is_long) --server.long_requests;
  }

  Server& server;
  ApiUpload upload;
  ApiBodyPace pace{server.limits.body_patience, Clock::now()};
  bool is_long = false;
  ApiRequest request;
  std::optional<ApiResponse> refusal;  // to be sent when the body is over
  std::uint64_t discarded_bytes = 0;
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

const MHD_KeyValueIteratorN add_size = [](void* sum, MHD_ValueKind, const char*,
                                          std::size_t name_size, const char*,
                                          std::size_t value_size) -> MHD_Result {
  *static_cast<std::size_t*>(sum) += name_size + value_size;
  return MHD_YES;
};

// What frames the body must say one thing only: two readers of two lengths read two requests.
MHD_Result count_framing(void* count, MHD_ValueKind, const char* name, const char* value) {
  const bool is_coding = ::strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0;
  const bool is_framing = is_coding || ::strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0;
  if (is_framing) ++*static_cast<unsigned*>(count);
  // Of another coding the library would take all that comes for the body.
  const bool is_known = value != nullptr && ::strcasecmp(value, "chunked") == 0;
  if (is_coding && !is_known) ++*static_cast<unsigned*>(count);
  return MHD_YES;
}

std::optional<ApiResponse> refuse_size(MHD_Connection* connection, const ApiRequest& request) {
  std::size_t target_bytes = request.path.size();
  MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, add_size, &target_bytes);
  if (target_bytes > kTargetBytesMax) {
    return problem(414, "the target is longer than " + size_text(kTargetBytesMax));
  }
  const auto* head = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  if (head == nullptr || head->header_size <= kRequestHeadBytesMax) return std::nullopt;
  return problem(431, "the head is longer than " + size_text(kRequestHeadBytesMax));
}

// Reads the head into `request`; what is wrong with it.
std::optional<ApiResponse> take_head(MHD_Connection* connection, ApiRequest& request) {
  if (auto refusal = refuse_size(connection, request)) return refusal;
  unsigned framing = 0;
  MHD_get_connection_values(connection, MHD_HEADER_KIND, &count_framing, &framing);
  if (framing > 1) {
    return problem(400, "expected one Content-Length or Transfer-Encoding: chunked, not both");
  }
  Query query{request.query, {}};
  MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, collect_parameter, &query);
  if (query.fault.empty()) return std::nullopt;
  return problem(400, query.fault);
}

int descriptor_of(MHD_Connection* connection) {
  const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info == nullptr ? -1 : info->connect_fd;
}

bool has_left(MHD_Connection* connection) {
  char byte = 0;
  return ::recv(descriptor_of(connection), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

MHD_Result send(Server& server, MHD_Connection* connection, const ApiResponse& answer) {
  MHD_Response* response = MHD_create_response_from_buffer(
      answer.body.size(), const_cast<char*>(answer.body.data()), MHD_RESPMEM_MUST_COPY);
  if (response == nullptr) return MHD_NO;
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer.content_type.c_str());
  MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
  MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
  for (const auto& [name, value] : answer.headers) {
    MHD_add_response_header(response, name.c_str(), value.c_str());
  }
  server.deadlines.await_client(descriptor_of(connection), Clock::now() + kAnswerPatience);
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

bool has_body(MHD_Connection* connection) {
  return body_bytes(connection) > 0 ||
         header_of(connection, MHD_HTTP_HEADER_TRANSFER_ENCODING) != nullptr;
}

std::optional<ApiResponse> refuse_body(MHD_Connection* connection, std::uint64_t limit_bytes) {
  if (body_bytes(connection) <= limit_bytes) return std::nullopt;
  return problem(413, "the body is longer than " + size_text(limit_bytes));
}

// A client that is still sending when the connection ends may never read the answer: unless it
// waits for leave to send, the body is taken first, when that is within reason.
MHD_Result refuse(MHD_Connection* connection, Exchange& exchange, ApiResponse refusal) {
  const bool waits = header_of(connection, MHD_HTTP_HEADER_EXPECT) != nullptr;
  if (waits || !has_body(connection) || body_bytes(connection) > kDiscardedBytesMax) {
    return send(exchange.server, connection, refusal);
  }
  exchange.refusal = std::move(refusal);
  return MHD_YES;
}

// Its body is not taken, since that is what there is no room for.
MHD_Result refuse_busy(Server& server, MHD_Connection* connection, const std::string& detail) {
  server.deadlines.count_refusal();
  return send(server, connection, busy(detail));
}

// What bounds the requests that stay, for a body or for an answer that has to come: the others are
// short, and an operator's orders are among them.
bool is_one_too_many(MHD_Connection* connection, Exchange& exchange) {
  exchange.is_long = has_body(connection) || ApiRoutes::may_wait(exchange.request);
  return exchange.is_long && ++exchange.server.long_requests > ApiServer::kLongRequestsMax;
}

MHD_Result take_request(MHD_Connection* connection, Exchange& exchange) {
  Server& server = exchange.server;
  ApiRequest& request = exchange.request;
  if (const auto fault = take_head(connection, request)) return send(server, connection, *fault);
  request.has_client_left = [connection] { return has_left(connection); };
  if (is_one_too_many(connection, exchange)) {
    return refuse_busy(server, connection, "too many uploads and waiting requests at once");
  }
  if (auto refusal = server.routes.refuse_early(request)) {
    return refuse(connection, exchange, std::move(*refusal));
  }
  if (auto refusal = refuse_body(connection, server.limits.upload_bytes)) {
    return refuse(connection, exchange, std::move(*refusal));
  }
  exchange.upload.begin(connection);
  return MHD_YES;
}

MHD_Result begin_exchange(MHD_Connection* connection, Exchange& exchange) {
  Server& server = exchange.server;
  const int descriptor = descriptor_of(connection);
  const ApiDeadlines::Room room = server.deadlines.head_arrived(descriptor);
  if (room == ApiDeadlines::Room::kGone) return MHD_NO;
  if (room == ApiDeadlines::Room::kNone) {
    return refuse_busy(server, connection, "too many connections at once");
  }
  server.deadlines.await_client(descriptor, exchange.pace.deadline());
  return take_request(connection, exchange);
}

ApiResponse answer(Exchange& exchange) {
  if (exchange.refusal) return *exchange.refusal;
  if (auto wrong = exchange.upload.finish(exchange.request)) return *wrong;
  const auto answered = guard_all("request", [&]() -> Result<ApiResponse> {
    return exchange.server.routes.answer(std::move(exchange.request));
  });
  return answered ? *answered : problem(500, answered.error().text);
}

// False when the connection is to end without an answer.
bool take_piece(Exchange& exchange, const char* bytes, std::size_t size) {
  const bool is_refused = exchange.refusal || exchange.upload.failure();
  if (is_refused) exchange.discarded_bytes += size;
  if (exchange.discarded_bytes > kDiscardedBytesMax) return false;
  if (!is_refused) (void)exchange.upload.take(bytes, size);
  return true;
}

// The library calls it once with the head of a request, then with each piece of its body, then once
// more; between these calls it waits for the client.
const MHD_AccessHandlerCallback handle =
    [](void* context, MHD_Connection* connection, const char* path, const char* method, const char*,
       const char* upload_data, std::size_t* upload_size, void** state) -> MHD_Result {
  Server& server = *static_cast<Server*>(context);
  const int descriptor = descriptor_of(connection);
  auto* exchange = static_cast<Exchange*>(*state);
  if (exchange == nullptr) {
    *state = exchange = new Exchange(server);
    exchange->request.method = method;
    exchange->request.path = path;
    return begin_exchange(connection, *exchange);
  }
  server.deadlines.works(descriptor);
  if (*upload_size == 0) return send(server, connection, answer(*exchange));
  const Clock::time_point began = Clock::now();
  if (!take_piece(*exchange, upload_data, *upload_size)) return MHD_NO;
  exchange->pace.took(*upload_size, began, Clock::now());
  *upload_size = 0;
  server.deadlines.await_client(descriptor, exchange->pace.deadline());
  return MHD_YES;
};

void completed(void* context, MHD_Connection* connection, void** state,
               MHD_RequestTerminationCode) {
  delete static_cast<Exchange*>(*state);
  *state = nullptr;
  static_cast<Server*>(context)->deadlines.answered(descriptor_of(connection));
}

void connection_changed(void* context, MHD_Connection* connection, void**,
                        MHD_ConnectionNotificationCode change) {
  ApiDeadlines& deadlines = static_cast<Server*>(context)->deadlines;
  const int descriptor = descriptor_of(connection);
  if (change == MHD_CONNECTION_NOTIFY_STARTED) {
    deadlines.opened(descriptor);
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
                                                    Spool& spool, const Limits& limits, Warn warn) {
  auto parts = std::unique_ptr<Parts>(
      new Parts{std::move(socket), {routes, spool, limits, std::move(warn)}, nullptr});
  const int listening = ::fcntl(parts->socket.descriptor(), F_DUPFD_CLOEXEC, 3);
  const unsigned flags =
      MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ITC;
  parts->daemon.reset(MHD_start_daemon(
      flags, 0, nullptr, nullptr, handle, &parts->server, MHD_OPTION_LISTEN_SOCKET, listening,
      MHD_OPTION_CONNECTION_LIMIT, kAcceptedMax, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
      kConnectionMemoryBytes, MHD_OPTION_NOTIFY_COMPLETED, &completed, &parts->server,
      MHD_OPTION_NOTIFY_CONNECTION, &connection_changed, &parts->server, MHD_OPTION_END));
  if (!parts->daemon) {
    if (listening >= 0) ::close(listening);
    return Error{ErrorClass::kInternal, "the API server cannot start"};
  }
  return std::unique_ptr<ApiServer>(new ApiServer(std::move(parts)));
}

}  // namespace vitrine::engine
