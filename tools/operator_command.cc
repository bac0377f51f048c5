// SPDX-License-Identifier: Apache-2.0
#include "tools/operator_command.h"

#include <boost/json/serialize.hpp>
#include <memory>

#include "tools/engine_socket.h"
#include "tools/job_command.h"

namespace vitrine::tools {
namespace {

struct OrderFlags {
  bool json = false;
};

Result<ExitCode> give(const CommandContext& context, const OperatorOrder& order,
                      const OrderFlags& flags) {
  const Result<EngineClient> engine = find_engine(context.flags);
  if (!engine) return engine.error();
  EngineRequest request;
  request.method = "POST";
  request.target = "/v1/" + order.name;
  const Result<EngineReply> reply = engine->send(request);
  if (!reply) return reply.error();
  if (!reply->is_success()) return refusal_of(*reply);
  const std::string text =
      flags.json ? boost::json::serialize(reply->json()) + "\n" : order.answer + "\n";
  if (const auto written = context.output.write(text); !written) return written.error();
  return ExitCode::kOk;
}

}  // namespace

Command operator_command(const OperatorOrder& order) {
  const auto flags = std::make_shared<OrderFlags>();
  return {order.name, order.help,
          "0 accepted, 1 failed, 2 usage, 3 no engine, 7 no answer in time, 8 refused",
          [flags](FlagSet& set) {
            set.toggle("--json", flags->json, "One JSON document and nothing else");
          },
          [flags, order](const CommandContext& context) { return give(context, order, *flags); }};
}

}  // namespace vitrine::tools
