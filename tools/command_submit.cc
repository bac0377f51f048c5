// SPDX-License-Identifier: Apache-2.0
#include <boost/json/serialize.hpp>
#include <memory>
#include <vector>

#include "tools/command.h"
#include "tools/duration_text.h"
#include "tools/engine_socket.h"
#include "tools/job_command.h"

namespace vitrine::tools {
namespace {

struct SubmitFlags {
  std::string circuit;
  std::vector<std::string> witnesses;
  std::vector<std::string> inputs;
  std::string priority;
  std::optional<std::uint64_t> deadline_ns;
  std::string request;
  bool json = false;
};

std::string target_of(const SubmitFlags& flags) {
  std::string target = "/v1/jobs?circuit=" + url_escaped(flags.circuit);
  if (!flags.priority.empty()) target += "&priority=" + flags.priority;
  if (flags.deadline_ns) {
    target += "&deadline=" + std::to_string(*flags.deadline_ns / 1'000'000) + "ms";
  }
  if (!flags.request.empty()) target += "&request_id=" + url_escaped(flags.request);
  return target;
}

Result<ExitCode> run_submit(const CommandContext& context, const SubmitFlags& flags) {
  const bool has_inputs = !flags.inputs.empty();
  if (has_inputs != flags.witnesses.empty()) {
    return Error{ExitCode::kUsage, has_inputs ? "--wtns and --input exclude each other"
                                              : "--wtns or --input is required"};
  }
  const Result<EngineClient> engine = find_engine(context.flags);
  if (!engine) return engine.error();
  EngineRequest request;
  request.method = "POST";
  request.target = target_of(flags);
  const std::vector<std::string>& files = has_inputs ? flags.inputs : flags.witnesses;
  request.files.assign(files.begin(), files.end());
  if (has_inputs) request.part_name = "input";
  context.diagnostics.debug("POST " + request.target + " at " + engine->socket_path().string());
  const Result<EngineReply> reply = engine->send(request);
  if (!reply) return reply.error();
  if (!reply->is_success()) return refusal_of(*reply);
  const Result<JobDocument> job = job_document_of(*reply);
  if (!job) return job.error();
  const std::string text =
      flags.json ? boost::json::serialize(reply->json()) + "\n" : job->id + "\n";
  if (const auto written = context.output.write(text); !written) return written.error();
  return ExitCode::kOk;
}

void add_flags(FlagSet& set, SubmitFlags& flags) {
  FlagSet::require(set.text("--circuit", flags.circuit, "Circuit of the engine's configuration"));
  set.texts("--wtns", flags.witnesses, "Witness files, one partition each");
  set.texts("--input", flags.inputs,
            "Input files instead, from which the circuit's witness_command makes witnesses");
  set.choice("--priority", flags.priority, {"low", "normal", "high", "critical"}, "How urgent");
  set.duration("--deadline", flags.deadline_ns, "When it should be done, from now");
  set.text("--request-id", flags.request, "A name of your own for the job");
  set.toggle("--json", flags.json, "One JSON document and nothing else");
}

}  // namespace

Command submit_command() {
  const auto flags = std::make_shared<SubmitFlags>();
  return {"submit", "Give the engine a job; prints its id",
          "0 accepted, 1 failed, 2 usage or unknown circuit, 3 no engine, 7 no answer in time, 8 "
          "refused",
          [flags](FlagSet& set) { add_flags(set, *flags); },
          [flags](const CommandContext& context) { return run_submit(context, *flags); }};
}

}  // namespace vitrine::tools
