// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <memory>
#include <thread>

#include "shm/clock.h"
#include "tools/atomic_file.h"
#include "tools/command.h"
#include "tools/engine_socket.h"
#include "tools/job_command.h"
#include "tools/job_progress.h"
#include "tools/status_command.h"

namespace vitrine::tools {
namespace {

constexpr std::uint64_t kPollNs = 20'000'000'000;  // the engine holds a request at most this long
constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr std::uint64_t kCrowdedPollNs = 2 * kSecondNs;
constexpr int kTooMany = 503;

struct WaitFlags {
  std::string job;
  std::string out;
  std::optional<std::uint64_t> timeout_ns;
  bool progress = false;
  bool json = false;
};

struct FinishedJob {
  JobDocument job;
  std::string json;
};

// One job of one engine, followed to its end.
class JobWait {
 public:
  JobWait(const CommandContext& context, const WaitFlags& flags, std::uint64_t id)
      : context_(context), path_("/v1/jobs/" + std::to_string(id)), id_(id) {
    if (flags.timeout_ns) end_ns_ = shm::monotonic_ns() + *flags.timeout_ns;
  }

  void show_progress() const {
    tools::show_progress(target_of(context_.flags, {}), shm::Id{id_}, STDERR_FILENO, end_ns_);
  }

  // Asks again and again, each time for as long as the engine holds a request.
  Result<FinishedJob> until_final() {
    while (true) {
      const Result<EngineReply> reply = look();
      if (!reply) return reply.error();
      if (reply->status == 404) {
        return Error{ExitCode::kLost, reply->problem() + ": never submitted here, or lost"};
      }
      if (!reply->is_success()) return refusal_of(*reply);
      Result<JobDocument> job = job_document_of(*reply);
      if (!job) return job.error();
      if (exit_code_of(*job)) {
        return FinishedJob{std::move(*job), boost::json::serialize(reply->json())};
      }
      if (left_ns() == 0) {
        return Error{ExitCode::kTimeout, "job " + job->id + " is still " + job->state};
      }
    }
  }

  // Proof and public inputs of every partition, in snarkjs' own format; for BLS12-381 also all
  // proofs in one file, compressed.
  Result<void> write_proofs(const JobDocument& job, const std::filesystem::path& directory) {
    std::error_code problem;
    std::filesystem::create_directories(directory, problem);
    if (problem) {
      return Error{ExitCode::kFailed, directory.string() + ": " + problem.message()};
    }
    for (std::uint32_t number = 0; number < job.partitions; ++number) {
      const std::string suffix = job.partitions == 1 ? "" : "." + std::to_string(number);
      const auto curve = write_proof(number, directory, suffix);
      if (!curve) return curve.error();
      if (number == 0 && *curve == "bls12381") {
        if (const auto all = write_compressed(directory / "proof.bin"); !all) return all.error();
      }
    }
    return {};
  }

 private:
  // An engine that holds as many requests as it can answers a look at once all the same.
  Result<EngineReply> look() {
    const std::uint64_t hold_ns = std::min(kPollNs, left_ns());
    Result<EngineReply> reply =
        ask(path_ + "?wait=" + std::to_string(hold_ns / 1'000'000) + "ms", hold_ns);
    if (!reply || reply->status != kTooMany) return reply;
    std::this_thread::sleep_for(std::chrono::nanoseconds(std::min(kCrowdedPollNs, left_ns())));
    return ask(path_, 0);
  }

  std::uint64_t left_ns() const {
    if (!end_ns_) return kPollNs;
    const std::uint64_t now_ns = shm::monotonic_ns();
    return now_ns < *end_ns_ ? *end_ns_ - now_ns : 0;
  }

  Result<EngineReply> ask(const std::string& target, std::uint64_t wait_ns) {
    const Result<EngineClient> engine =
        find_engine(context_.flags, std::min(kEngineAppearsNs, left_ns()));
    if (!engine) return engine.error();
    EngineRequest request;
    request.target = target;
    request.answer_within_ns = wait_ns + 10 * kSecondNs;
    return engine->send(request);
  }

  Result<void> write_compressed(const std::filesystem::path& file) {
    const Result<EngineReply> reply = ask(path_ + "/proof?format=compressed", 0);
    if (!reply) return reply.error();
    if (!reply->is_success()) return refusal_of(*reply);
    return write_file_atomically(file, reply->body);
  }

  // The proof's curve, as snarkjs spells it.
  Result<std::string> write_proof(std::uint32_t number, const std::filesystem::path& directory,
                                  const std::string& suffix) {
    const Result<EngineReply> reply = ask(path_ + "/proof?partition=" + std::to_string(number), 0);
    if (!reply) return reply.error();
    if (!reply->is_success()) return refusal_of(*reply);
    const boost::json::value document = reply->json();
    for (const auto& [key, name] : {std::pair("proof", "proof"), {"publicSignals", "public"}}) {
      const boost::json::value* part =
          document.is_object() ? document.get_object().if_contains(key) : nullptr;
      if (part == nullptr) return Error{ExitCode::kFailed, "the engine's answer is not a proof"};
      const auto file = directory / (name + suffix + ".json");
      const auto written = write_file_atomically(file, boost::json::serialize(*part) + "\n");
      if (!written) return written.error();
    }
    const boost::json::value& proof = document.get_object().at("proof");
    const boost::json::value* curve =
        proof.is_object() ? proof.get_object().if_contains("curve") : nullptr;
    return curve != nullptr && curve->is_string() ? std::string(curve->get_string())
                                                  : std::string();
  }

  const CommandContext& context_;
  std::string path_;
  std::uint64_t id_;
  std::optional<std::uint64_t> end_ns_;
};

std::string end_text(const FinishedJob& finished, const WaitFlags& flags) {
  if (flags.json) return finished.json + "\n";
  std::string text = "job " + finished.job.id + ": " + finished.job.state;
  if (finished.job.state == "done") {
    text += ", " + std::to_string(finished.job.partitions) +
            (finished.job.partitions == 1 ? " proof" : " proofs");
    if (!flags.out.empty()) text += " in " + flags.out;
  }
  return printable(text, Charset::kUtf8) + "\n";
}

Error failure_of(const JobDocument& job, ExitCode code) {
  // A cancelled job's failure is of class cancelled: once is enough. A job may be refused without a
  // fault of anybody.
  const bool is_told = job.failure_class == job.state || job.failure_class == "none";
  const std::string cause = is_told ? job.failure : job.failure_class + ": " + job.failure;
  return {code, "job " + job.id + " " + job.state + ": " + cause};
}

Result<ExitCode> run_wait(const CommandContext& context, const WaitFlags& flags) {
  const Result<std::uint64_t> id = parse_job_id(flags.job);
  if (!id) return id.error();
  JobWait wait(context, flags, *id);
  if (flags.progress) wait.show_progress();
  const Result<FinishedJob> finished = wait.until_final();
  if (!finished) return finished.error();
  const JobDocument& job = finished->job;
  const ExitCode code = *exit_code_of(job);
  if (code == ExitCode::kOk && !flags.out.empty()) {
    if (const auto written = wait.write_proofs(job, flags.out); !written) return written.error();
  }
  // The error's line says all that the end's would.
  if (!job.failure.empty() && !flags.json) return failure_of(job, code);
  if (const auto written = context.output.write(end_text(*finished, flags)); !written) {
    return written.error();
  }
  return code;
}

}  // namespace

Command wait_command() {
  const auto flags = std::make_shared<WaitFlags>();
  return {"wait", "Wait until a job has ended; the exit code says how",
          "0 done, 1 failed, 2 usage, 3 no engine, 6 cancelled, 7 timed out, 8 refused, 9 lost or "
          "unknown",
          [flags](FlagSet& set) {
            FlagSet::require(set.text("ID", flags->job, "The job, as submit printed it"));
            set.text("--out", flags->out,
                     "Directory for proof.json and public.json, for bls12381 also proof.bin");
            set.duration("--timeout", flags->timeout_ns, "Wait no longer than this");
            set.toggle("--progress", flags->progress,
                       "Show the partitions moving, on standard error");
            set.toggle("--json", flags->json, "One JSON document and nothing else");
          },
          [flags](const CommandContext& context) { return run_wait(context, *flags); }};
}

}  // namespace vitrine::tools
