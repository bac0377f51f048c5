// SPDX-License-Identifier: Apache-2.0
#include <boost/json/serialize.hpp>
#include <charconv>
#include <memory>

#include "tools/command.h"
#include "tools/engine_socket.h"
#include "tools/job_command.h"

namespace vitrine::tools {
namespace {

struct DeviceFlags {
  std::string verb;
  std::string number;
  bool json = false;
};

Result<std::uint32_t> parse_number(const std::string& text) {
  std::uint32_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, number);
  if (problem == std::errc{} && rest == end) return number;
  return Error{ExitCode::kUsage, "'" + text + "' is not the number of a device"};
}

Result<ExitCode> run_device(const CommandContext& context, const DeviceFlags& flags) {
  const Result<std::uint32_t> number = parse_number(flags.number);
  if (!number) return number.error();
  const Result<EngineClient> engine = find_engine(context.flags);
  if (!engine) return engine.error();
  EngineRequest request;
  request.method = "POST";
  request.target = "/v1/devices/" + std::to_string(*number) + "/" + flags.verb;
  const Result<EngineReply> reply = engine->send(request);
  if (!reply) return reply.error();
  if (!reply->is_success()) return refusal_of(*reply);
  const std::string text = flags.json ? boost::json::serialize(reply->json()) + "\n"
                                      : "device " + std::to_string(*number) + ": released\n";
  if (const auto written = context.output.write(text); !written) return written.error();
  return ExitCode::kOk;
}

}  // namespace

Command device_command() {
  const auto flags = std::make_shared<DeviceFlags>();
  return {"device", "Take a device back that was quarantined or lost",
          "0 it takes work, 1 it has not answered yet, 2 usage or no such device, 3 no engine, 7 "
          "no answer in time, 8 refused",
          [flags](FlagSet& set) {
            FlagSet::require(
                set.choice("VERB", flags->verb, {"release"}, "What to do with the device"));
            FlagSet::require(
                set.text("N", flags->number, "The device, as 'vitrine workers' numbers it"));
            set.toggle("--json", flags->json, "One JSON document and nothing else");
          },
          [flags](const CommandContext& context) { return run_device(context, *flags); }};
}

}  // namespace vitrine::tools
