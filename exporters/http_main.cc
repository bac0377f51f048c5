// SPDX-License-Identifier: Apache-2.0
// vitrine-http: one engine as a web page and as JSON, over HTTP.
//
// Exit     0 stopped by a signal, 1 the system refused, 2 usage or an address that is taken.
#include <csignal>
#include <ctime>

#include "exporters/http_options.h"
#include "exporters/http_server.h"
#include "exporters/http_site.h"
#include "exporters/program_frame.h"
#include "exporters/program_log.h"
#include "exporters/verdict_log.h"
#include "exporters/watched_engine.h"
#include "shm/clock.h"
#include "shm/standard_streams.h"

namespace vitrine::exporters {
namespace {

constexpr const char* kName = "vitrine-http";
constexpr long kTickNs = 250'000'000;
constexpr std::uint64_t kLookNs = 1'000'000'000;

Result<std::vector<ListenSocket>> bind_all(const HttpOptions& options) {
  std::vector<ListenSocket> sockets;
  for (const ListenAddress& address : options.listen) {
    const bool may_be_missing = options.listen_choice == HttpOptions::Listen::kDefault &&
                                address.family == ListenAddress::Family::kIpv6;
    if (may_be_missing && !has_address(address)) continue;
    Result<ListenSocket> socket = ListenSocket::bind(address);
    if (!socket) return socket.error();
    sockets.push_back(*std::move(socket));
  }
  return sockets;
}

Result<void> serve(const HttpOptions& options) {
  const sigset_t stop = block_signals({SIGTERM, SIGINT});
  const auto log = make_program_log(kName, options.log_level, options.log_format);
  Result<std::vector<ListenSocket>> sockets = bind_all(options);
  if (!sockets) return sockets.error();
  std::string listening;
  for (const ListenSocket& socket : *sockets) {
    listening += "listening on " + socket.address().url() + "\n";
  }
  WatchedEngine engine(options.target);
  HttpActivity activity;
  HttpSite site(engine, RequestRules{options.allowed_hosts}, &activity);
  Result<HttpServer> server = HttpServer::start(
      *std::move(sockets), [&site](const RequestHead& head) { return site.answer(head); },
      ConnectionLimits{}, &activity);
  if (!server) return server.error();
  if (const Result<void> printed = print(listening); !printed) return printed;
  VerdictLog verdicts(log);
  const timespec tick{0, kTickNs};
  std::uint64_t looked_ns = 0;
  while (sigtimedwait(&stop, nullptr, &tick) < 0) {
    const std::uint64_t now_ns = shm::monotonic_ns();
    server->shut_down_late(now_ns);
    if (now_ns - looked_ns < kLookNs) continue;
    looked_ns = now_ns;
    verdicts.note(engine.moment()->observation);  // keeps the evidence for a verdict fresh
  }
  log->info("stopping");
  return {};
}

int run(int argc, const char* const* argv) {
  const auto options = parse_http_options(argc, argv);
  if (options && std::holds_alternative<PrintedText>(*options)) {
    return end_program(kName, print(std::get<PrintedText>(*options).text));
  }
  return end_program(kName, options ? serve(std::get<HttpOptions>(*options)) : options.error());
}

}  // namespace
}  // namespace vitrine::exporters

int main(int argc, char** argv) {
  vitrine::shm::occupy_standard_streams();
  return vitrine::exporters::run(argc, argv);
}
