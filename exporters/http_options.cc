// SPDX-License-Identifier: Apache-2.0
#include "exporters/http_options.h"

#include <CLI/CLI.hpp>
#include <utility>

namespace vitrine::exporters {

namespace {

constexpr const char* kDefaultListen[] = {"127.0.0.1:9821", "[::1]:9821"};

struct Arguments {
  WatchArguments watch;
  std::vector<std::string> listen;
  std::vector<std::string> allowed_hosts;
  bool allow_remote = false;
};

void describe(CLI::App& app, Arguments& arguments) {
  add_watch_options(app, arguments.watch);
  app.add_option("--listen", arguments.listen,
                 "ADDRESS:PORT, [IPV6]:PORT or unix:/path; may be repeated (default "
                 "127.0.0.1:9821 and [::1]:9821)")
      ->allow_extra_args(false)
      ->take_all()
      ->envname("VITRINE_HTTP_LISTEN");
  app.add_option("--allow-host", arguments.allowed_hosts,
                 "another name that requests may have in Host; may be repeated")
      ->allow_extra_args(false)
      ->take_all();
  app.add_flag("--allow-remote", arguments.allow_remote,
               "allow --listen on addresses that other machines reach; whoever reaches it can read "
               "everything (put TLS and authentication in front)");
}

Result<std::vector<ListenAddress>> listen_addresses(const Arguments& arguments) {
  std::vector<ListenAddress> addresses;
  std::vector<std::string> texts = arguments.listen;
  if (texts.empty()) texts.assign(std::begin(kDefaultListen), std::end(kDefaultListen));
  for (const std::string& text : texts) {
    Result<ListenAddress> address = parse_listen_address(text);
    if (!address) return address.error();
    if (!address->is_loopback() && !arguments.allow_remote) {
      return Error{
          ErrorKind::kUsage,
          "--listen " + text + ": other machines could reach this; add --allow-remote if they may"};
    }
    addresses.push_back(*std::move(address));
  }
  return addresses;
}

Result<HttpOptions> checked(const Arguments& arguments) {
  HttpOptions options;
  Result<std::vector<ListenAddress>> addresses = listen_addresses(arguments);
  if (!addresses) return addresses.error();
  options.listen = *std::move(addresses);
  if (!arguments.listen.empty()) options.listen_choice = HttpOptions::Listen::kGiven;
  Result<shm::Target> target = target_of(arguments.watch);
  if (!target) return target.error();
  options.target = *std::move(target);
  options.allowed_hosts = arguments.allowed_hosts;
  options.log_level = arguments.watch.log_level;
  options.log_format = arguments.watch.format();
  return options;
}

}  // namespace

Result<std::variant<HttpOptions, PrintedText>> parse_http_options(int argc,
                                                                  const char* const* argv) {
  CLI::App app("Shows a Vitrine engine as a web page and as JSON.", "vitrine-http");
  Arguments arguments;
  describe(app, arguments);
  const auto parsed = parse(app, {argc, argv});
  if (!parsed) return parsed.error();
  if (std::holds_alternative<PrintedText>(*parsed)) return std::get<PrintedText>(*parsed);
  Result<HttpOptions> options = checked(arguments);
  if (!options) return options.error();
  return *std::move(options);
}

}  // namespace vitrine::exporters
