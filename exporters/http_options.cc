// SPDX-License-Identifier: Apache-2.0
#include "exporters/http_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "shm/paths.h"
#include "shm/user_id.h"

namespace vitrine::exporters {

namespace {

constexpr const char* kDefaultListen[] = {"127.0.0.1:9821", "[::1]:9821"};

struct Arguments {
  std::string instance = "main";
  std::string segment;
  std::string owner;
  bool any_filesystem = false;
  std::vector<std::string> listen;
  std::vector<std::string> allowed_hosts;
  bool allow_remote = false;
  std::string log_level = "info";
  std::string log_format = "text";
};

std::string check_instance(const std::string& name) {
  if (shm::is_instance_name(name)) return {};
  return "'" + name + "' is not 1 to 32 characters of a-z, 0-9, _ and -, not first a -";
}

std::string check_not_empty(const std::string& text) {
  return text.empty() ? "'' is not a path: it is empty" : "";
}

void describe(CLI::App& app, Arguments& arguments) {
  app.set_version_flag("--version", "vitrine-http " VITRINE_VERSION);
  app.add_option("--instance", arguments.instance, "name of the engine instance to show")
      ->envname("VITRINE_INSTANCE")
      ->check(check_instance);
  app.add_option("--segment", arguments.segment,
                 "path of the segment; the instance is not searched")
      ->envname("VITRINE_SEGMENT")
      ->check(check_not_empty);
  app.add_option("--owner", arguments.owner,
                 "also trust segments of this user, by name or uid, where others can write");
  app.add_flag("--any-filesystem", arguments.any_filesystem,
               "also map segments that are not in a tmpfs");
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
  app.add_option("--log-level", arguments.log_level, "what to log")
      ->envname("VITRINE_LOG_LEVEL")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error", "off"}));
  app.add_option("--log-format", arguments.log_format, "how to log")
      ->envname("VITRINE_LOG_FORMAT")
      ->check(CLI::IsMember({"text", "json"}));
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

Result<shm::Target> target_of(const Arguments& arguments) {
  shm::Target target;
  target.instance = arguments.instance;
  if (!arguments.segment.empty()) target.path = arguments.segment;
  target.options.any_filesystem = arguments.any_filesystem;
  if (arguments.owner.empty()) return target;
  target.options.owner = shm::find_user(arguments.owner);
  if (target.options.owner) return target;
  return Error{ErrorKind::kUsage, "--owner: '" + arguments.owner + "' is no user of this machine"};
}

Result<HttpOptions> checked(const Arguments& arguments) {
  HttpOptions options;
  Result<std::vector<ListenAddress>> addresses = listen_addresses(arguments);
  if (!addresses) return addresses.error();
  options.listen = *std::move(addresses);
  if (!arguments.listen.empty()) options.listen_choice = HttpOptions::Listen::kGiven;
  Result<shm::Target> target = target_of(arguments);
  if (!target) return target.error();
  options.target = *std::move(target);
  options.allowed_hosts = arguments.allowed_hosts;
  options.log_level = arguments.log_level;
  options.log_format = arguments.log_format == "json" ? LogFormat::kJson : LogFormat::kText;
  return options;
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

Result<std::variant<HttpOptions, PrintedText>> parse_http_options(int argc,
                                                                  const char* const* argv) {
  CLI::App app("Shows a Vitrine engine as a web page and as JSON.", "vitrine-http");
  Arguments arguments;
  describe(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForVersion& asked) {
    return PrintedText{std::string(asked.what()) + "\n"};
  } catch (const CLI::CallForHelp&) {
    return PrintedText{app.help()};
  } catch (const CLI::ParseError& wrong) {
    return Error{ErrorKind::kUsage, one_line(wrong.what())};
  }
  Result<HttpOptions> options = checked(arguments);
  if (!options) return options.error();
  return *std::move(options);
}

}  // namespace vitrine::exporters
