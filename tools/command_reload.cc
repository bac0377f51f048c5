// SPDX-License-Identifier: Apache-2.0
#include <boost/json.hpp>
#include <memory>

#include "tools/command.h"
#include "tools/engine_socket.h"
#include "tools/job_command.h"

namespace vitrine::tools {
namespace {

namespace json = boost::json;

struct ReloadFlags {
  bool json = false;
};

// " a b" of the texts at the key; empty when there are none.
std::string names_at(const json::object& object, std::string_view key) {
  const json::value* list = object.if_contains(key);
  std::string names;
  if (list == nullptr || !list->is_array()) return names;
  for (const json::value& name : list->get_array()) {
    if (name.is_string()) names.append(" ").append(name.get_string());
  }
  return names;
}

std::string report_text(const json::value& reply) {
  const json::object none;
  const json::object& report = reply.is_object() ? reply.get_object() : none;
  const json::value* nested = report.if_contains("circuits");
  const json::object& circuits =
      nested != nullptr && nested->is_object() ? nested->get_object() : none;
  std::string text;
  const auto add = [&text](std::string_view title, const std::string& names) {
    if (!names.empty()) text.append(title).append(":").append(names).append("\n");
  };
  add("circuits added", names_at(circuits, "added"));
  add("circuits removed", names_at(circuits, "removed"));
  add("circuits changed", names_at(circuits, "changed"));
  add("settings changed", names_at(report, "settings"));
  if (text.empty()) text = "nothing has changed\n";
  add("not until the next start", names_at(report, "at_next_start"));
  return "reloaded\n" + text;
}

Result<ExitCode> run_reload(const CommandContext& context, const ReloadFlags& flags) {
  const Result<EngineClient> engine = find_engine(context.flags);
  if (!engine) return engine.error();
  EngineRequest request;
  request.method = "POST";
  request.target = "/v1/reload";
  const Result<EngineReply> reply = engine->send(request);
  if (!reply) return reply.error();
  if (!reply->is_success()) return refusal_of(*reply);
  const std::string text =
      flags.json ? json::serialize(reply->json()) + "\n" : report_text(reply->json());
  if (const auto written = context.output.write(text); !written) return written.error();
  return ExitCode::kOk;
}

}  // namespace

Command reload_command() {
  const auto flags = std::make_shared<ReloadFlags>();
  return {"reload", "Let the engine read its configuration again",
          "0 reloaded, 1 failed, 2 usage, 3 no engine, 7 no answer in time, 8 refused: nothing has "
          "changed",
          [flags](FlagSet& set) {
            set.toggle("--json", flags->json, "One JSON document and nothing else");
          },
          [flags](const CommandContext& context) { return run_reload(context, *flags); }};
}

}  // namespace vitrine::tools
