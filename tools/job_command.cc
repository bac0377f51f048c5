// SPDX-License-Identifier: Apache-2.0
#include "tools/job_command.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace vitrine::tools {
namespace {

std::string text_at(const boost::json::object& object, std::string_view key) {
  const boost::json::value* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::uint32_t number_at(const boost::json::object& object, std::string_view key) {
  const boost::json::value* value = object.if_contains(key);
  if (value == nullptr || !value->is_int64()) return 0;
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(value->get_int64(), 0, kMost));
}

}  // namespace

Result<JobDocument> job_document_of(const EngineReply& reply) {
  const boost::json::value value = reply.json();
  if (!value.is_object()) return Error{ExitCode::kFailed, "the engine's answer is not JSON"};
  const boost::json::object& object = value.get_object();
  JobDocument job;
  job.id = text_at(object, "job");
  job.state = text_at(object, "state");
  job.partitions = number_at(object, "partitions");
  job.failure_class = text_at(object, "failure_class");
  job.failure = text_at(object, "failure");
  if (job.id.empty() || job.state.empty()) {
    return Error{ExitCode::kFailed, "the engine's answer does not describe a job"};
  }
  return job;
}

std::optional<ExitCode> exit_code_of(const JobDocument& job) {
  if (job.state == "done") return ExitCode::kOk;
  if (job.state == "cancelled") return ExitCode::kCancelled;
  if (job.state == "refused") return ExitCode::kRefused;
  if (job.state == "lost") return ExitCode::kLost;
  if (job.state != "failed") return std::nullopt;
  if (job.failure_class == "timeout") return ExitCode::kTimeout;
  return job.failure_class == "lost" ? ExitCode::kLost : ExitCode::kFailed;
}

Error refusal_of(const EngineReply& reply) {
  switch (reply.status) {
    case 400:
    case 404:
    case 413:
      return {ExitCode::kUsage, reply.problem()};
    case 422:
    case 429:
    case 503:
    case 507:
      return {ExitCode::kRefused, "refused: " + reply.problem()};
    default:
      return {ExitCode::kFailed, reply.problem()};
  }
}

Result<std::uint64_t> parse_job_id(const std::string& text) {
  std::uint64_t id = 0;
  const char* end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, id);
  if (problem != std::errc{} || rest != end || id == 0) {
    return Error{ExitCode::kUsage, "'" + text + "' is not a job id"};
  }
  return id;
}

}  // namespace vitrine::tools
