// SPDX-License-Identifier: Apache-2.0
#include <boost/json/serialize.hpp>
#include <memory>

#include "tools/command.h"
#include "tools/engine_socket.h"
#include "tools/job_command.h"

namespace vitrine::tools {
namespace {

struct CancelFlags {
  std::string job;
  bool json = false;
};

Result<ExitCode> run_cancel(const CommandContext& context, const CancelFlags& flags) {
  const Result<std::uint64_t> id = parse_job_id(flags.job);
  if (!id) return id.error();
  const Result<EngineClient> engine = find_engine(context.flags);
  if (!engine) return engine.error();
  EngineRequest request;
  request.method = "DELETE";
  request.target = "/v1/jobs/" + std::to_string(*id);
  const Result<EngineReply> reply = engine->send(request);
  if (!reply) return reply.error();
  if (reply->status == 404)
    return Error{ExitCode::kLost, reply->problem() + ": never submitted here, or lost"};
  if (!reply->is_success()) return refusal_of(*reply);
  const Result<JobDocument> job = job_document_of(*reply);
  if (!job) return job.error();
  const std::string text = flags.json ? boost::json::serialize(reply->json()) + "\n"
                                      : "job " + std::to_string(*id) + ": " + job->state + "\n";
  if (const auto written = context.output.write(text); !written) return written.error();
  return ExitCode::kOk;
}

}  // namespace

Command cancel_command() {
  const auto flags = std::make_shared<CancelFlags>();
  return {"cancel", "Stop a job",
          "0 cancelled or being stopped, 1 had ended otherwise, 2 usage, 3 no engine, 7 no answer "
          "in time, 8 refused, 9 lost or unknown",
          [flags](FlagSet& set) {
            FlagSet::require(set.text("ID", flags->job, "The job, as submit printed it"));
            set.toggle("--json", flags->json, "One JSON document and nothing else");
          },
          [flags](const CommandContext& context) { return run_cancel(context, *flags); }};
}

}  // namespace vitrine::tools
