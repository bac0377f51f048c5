// SPDX-License-Identifier: Apache-2.0
// What the commands that give work to an engine share: its answers, read.
#pragma once

#include <optional>
#include <string>

#include "shm/words.h"
#include "tools/engine_client.h"

namespace vitrine::tools {

// A job as the engine describes it.
struct JobDocument {
  std::string id;
  std::string state;
  std::uint32_t partitions = 0;
  std::string failure_class;  // these two are empty unless it failed
  std::string failure;
};
// Errors: kFailed when the answer is not a job.
Result<JobDocument> job_document_of(const EngineReply& reply);

// The code that tells how a job ended; nothing while it has not.
std::optional<ExitCode> exit_code_of(const JobDocument& job);

// A refusal by the engine as this program's error.
Error refusal_of(const EngineReply& reply);

// A job id as the commands take it: decimal digits, not zero.
Result<std::uint64_t> parse_job_id(const std::string& text);

}  // namespace vitrine::tools
