// SPDX-License-Identifier: Apache-2.0
#include "engine/api_routes.h"

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <set>
#include <string_view>
#include <utility>

#include "engine/api_devices.h"
#include "engine/api_json.h"
#include "engine/quantities.h"
#include "engine/result_assembly.h"
#include "engine/settings.h"
#include "shm/printable_text.h"
#include "shm/strict_json.h"

namespace vitrine::engine {
namespace {

namespace json = boost::json;
using Clock = std::chrono::steady_clock;
using Folders = std::vector<std::filesystem::path>;

constexpr std::string_view kJobs = "/v1/jobs";
constexpr std::string_view kProve = "/v1/prove";
constexpr std::size_t kRequestIdMax = 64;
constexpr std::size_t kJsonDepthMax = 8;
constexpr auto kLookForClient = std::chrono::seconds(1);

std::string value_or(const ApiRequest& request, const std::string& name, std::string fallback) {
  const auto found = request.query.find(name);
  return found == request.query.end() ? std::move(fallback) : found->second;
}

template <class Number>
std::optional<Number> number_from(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

ApiResponse json_response(unsigned status, const json::value& value) {
  return {status, json::serialize(value) + "\n", "application/json", {}};
}

ApiResponse no_proof(JobId id, std::uint32_t partition) {
  return problem(409, "partition " + std::to_string(partition) + " of job " + std::to_string(id) +
                          " has no proof");
}

ApiResponse method_not_allowed(const std::string& allowed) {
  ApiResponse response = problem(405, "this resource takes " + allowed);
  response.headers["Allow"] = allowed;
  return response;
}

// Names what is not understood instead of ignoring it.
std::optional<ApiResponse> unknown_parameter(const ApiRequest& request,
                                             std::set<std::string_view> known) {
  for (const auto& [name, value] : request.query) {
    if (!known.contains(name)) return problem(400, "unknown parameter '" + name + "'");
  }
  return std::nullopt;
}

ApiResponse refusal_response(const Refusal& refusal) {
  switch (refusal.reason) {
    case RefusalReason::kUnknownCircuit:
      return problem(404, refusal.text);
    case RefusalReason::kBadRequest:
      return problem(400, refusal.text);
    case RefusalReason::kBadCircuit:
    case RefusalReason::kNoWitnessCommand:
    case RefusalReason::kImpossible:
      return problem(422, refusal.text);
    case RefusalReason::kQueueFull:
    case RefusalReason::kStatusCapacity: {
      ApiResponse response = problem(429, refusal.text);
      response.headers["Retry-After"] = "1";
      return response;
    }
    case RefusalReason::kDraining:
      return problem(503, refusal.text);
    case RefusalReason::kConflict:
      return problem(409, refusal.text);
    case RefusalReason::kStorage:
      return problem(507, refusal.text);
  }
  std::abort();
}

// A file the client named: inside one of the folders that the configuration lists, links resolved.
Result<WitnessFile> server_file(const std::string& text, WitnessKind kind, const Folders& folders) {
  std::error_code problem;
  const std::filesystem::path path = std::filesystem::canonical(text, problem);
  const bool is_absolute = std::filesystem::path(text).is_absolute();
  for (const auto& allowed : folders) {
    std::error_code ignored;
    const std::filesystem::path folder = std::filesystem::canonical(allowed, ignored);
    const auto [end, inside] =
        std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
    if (problem || ignored || !is_absolute || end != folder.end()) continue;
    if (!std::filesystem::is_regular_file(path, ignored)) break;
    WitnessFile file{path, nullptr};
    file.kind = kind;
    return file;
  }
  return bad_input((kind == WitnessKind::kInput ? "input '" : "witness '") + text +
                   "' is not a file inside witness_directories");
}

Result<std::vector<WitnessFile>> named_witnesses(const std::string& body, const Folders& folders) {
  const auto document = shm::parse_strict_json(body, kJsonDepthMax);
  if (!document) return bad_input("the body: " + document.error().text);
  const json::object* object = document->if_object();
  if (object == nullptr) return bad_input("the body is not a JSON object");
  for (const auto& member : *object) {
    if (member.key() != "witnesses" && member.key() != "inputs") {
      return bad_input("unknown member '" + std::string(member.key()) + "'");
    }
  }
  if (object->size() > 1) return bad_input("a job has witnesses or inputs, not both");
  const json::value* inputs = object->if_contains("inputs");
  const json::value* paths = inputs != nullptr ? inputs : object->if_contains("witnesses");
  const WitnessKind kind = inputs != nullptr ? WitnessKind::kInput : WitnessKind::kWitness;
  if (paths == nullptr || !paths->is_array() || paths->get_array().size() > kPartitionsMax) {
    return bad_input(
        "expected {\"witnesses\": [PATH, ...]} or {\"inputs\": [PATH, ...]} with 1 to " +
        std::to_string(kPartitionsMax) + " paths");
  }
  std::vector<WitnessFile> witnesses;
  for (const json::value& path : paths->get_array()) {
    if (!path.is_string()) return bad_input("a path is not a text");
    auto file = server_file(std::string(path.get_string()), kind, folders);
    if (!file) return file.error();
    witnesses.push_back(std::move(*file));
  }
  return witnesses;
}

// All but the witnesses.
Result<JobRequest> job_head_of(const ApiRequest& request) {
  JobRequest job;
  job.circuit = value_or(request, "circuit", "");
  if (job.circuit.empty()) return bad_input("parameter 'circuit' is missing");
  if (request.query.contains("priority")) {
    job.priority = priority_from(request.query.at("priority"));
    if (!job.priority) return bad_input("priority: expected low, normal, high or critical");
  }
  job.request_id = value_or(request, "request_id", "");
  if (job.request_id.size() > kRequestIdMax) {
    return bad_input("request_id: longer than " + std::to_string(kRequestIdMax) + " bytes");
  }
  if (request.query.contains("deadline")) {
    job.deadline_ns = parse_duration_ns(request.query.at("deadline"));
    if (!job.deadline_ns) return bad_input("deadline: expected a duration such as 250ms, 5s, 10m");
  }
  const std::string at_deadline = value_or(request, "cancel_at_deadline", "false");
  if (at_deadline != "true" && at_deadline != "false") {
    return bad_input("cancel_at_deadline: expected true or false");
  }
  if (at_deadline == "true") {
    if (!job.deadline_ns) return bad_input("cancel_at_deadline: there is no deadline");
    job.at_deadline = Job::AtDeadline::kStop;
  }
  return job;
}

Result<JobRequest> job_request_of(ApiRequest& request, const Folders& folders) {
  auto job = job_head_of(request);
  if (!job) return job.error();
  if (request.json.empty()) {
    job->witnesses = std::move(request.witnesses);
    return job;
  }
  auto named = named_witnesses(request.json, folders);
  if (!named) return named.error();
  job->witnesses = std::move(*named);
  return job;
}

bool is_command(std::string_view path) {
  return path == "/v1/pause" || path == "/v1/resume" || path == "/v1/drain" || path == "/v1/reload";
}

// `/v1/jobs/ID` and `/v1/jobs/ID/proof`.
struct JobPath {
  JobId id = 0;
  bool wants_proof = false;
};

std::optional<JobPath> job_path(std::string_view path) {
  constexpr std::string_view kProof = "/proof";
  if (!path.starts_with(kJobs) || !path.substr(kJobs.size()).starts_with('/')) return std::nullopt;
  std::string_view digits = path.substr(kJobs.size() + 1);
  const bool wants_proof = digits.ends_with(kProof);
  if (wants_proof) digits.remove_suffix(kProof.size());
  const auto id = number_from<JobId>(digits);
  return id ? std::optional(JobPath{*id, wants_proof}) : std::nullopt;
}

// What may be done with a resource; empty when there is none at the path.
std::vector<std::string_view> methods_of(std::string_view path) {
  if (path == kJobs) return {"GET", "POST"};
  if (path == kProve || is_command(path)) return {"POST"};
  if (const auto methods = circuit_methods(path); !methods.empty()) return methods;
  if (const auto methods = device_methods(path); !methods.empty()) return methods;
  const auto job = job_path(path);
  if (!job) return {};
  if (job->wants_proof) return {"GET"};
  return {"GET", "DELETE"};
}

std::optional<ApiResponse> wrong_resource(const ApiRequest& head) {
  const auto methods = methods_of(head.path);
  if (methods.empty()) return problem(404, "no resource '" + head.path + "'");
  std::string allowed;
  for (const std::string_view method : methods) {
    if (head.method == method) return std::nullopt;
    allowed.append(allowed.empty() ? "" : ", ").append(method);
  }
  return method_not_allowed(allowed);
}

std::optional<shm::JobState> job_state_from(std::string_view text) {
  for (std::size_t i = 1; i < kJobStateCount; ++i) {
    const auto state = static_cast<shm::JobState>(i);
    if (text == shm::word(state)) return state;
  }
  return std::nullopt;
}

std::string job_state_words() {
  std::string words;
  for (std::size_t i = 1; i < kJobStateCount; ++i) {
    words.append(i == 1 ? "" : i + 1 == kJobStateCount ? " or " : ", ");
    words.append(shm::word(static_cast<shm::JobState>(i)));
  }
  return words;
}

bool takes_witnesses(const ApiRequest& request) {
  return request.method == "POST" && (request.path == kJobs || request.path == kProve);
}

}  // namespace

ApiResponse problem(unsigned status, const std::string& detail) {
  static const std::map<unsigned, const char*> kTitles = {{400, "Bad Request"},
                                                          {404, "Not Found"},
                                                          {405, "Method Not Allowed"},
                                                          {409, "Conflict"},
                                                          {413, "Content Too Large"},
                                                          {414, "URI Too Long"},
                                                          {415, "Unsupported Media Type"},
                                                          {422, "Unprocessable Content"},
                                                          {429, "Too Many Requests"},
                                                          {431, "Request Header Fields Too Large"},
                                                          {500, "Internal Server Error"},
                                                          {503, "Service Unavailable"},
                                                          {507, "Insufficient Storage"}};
  const json::object document{{"type", "about:blank"},
                              {"title", kTitles.at(status)},
                              {"status", status},
                              {"detail", shm::printable_text(detail)}};
  return {status, json::serialize(document) + "\n", "application/problem+json", {}};
}

bool ApiRoutes::may_wait(const ApiRequest& head) {
  return takes_witnesses(head) || head.query.contains("wait") || head.path.ends_with("/verify");
}

std::optional<ApiResponse> ApiRoutes::refuse_early(const ApiRequest& head) {
  if (auto wrong = wrong_resource(head)) return wrong;
  if (!takes_witnesses(head)) return std::nullopt;
  std::set<std::string_view> known = {"circuit", "priority", "deadline", "cancel_at_deadline",
                                      "request_id"};
  if (head.path == kProve) known.insert("cancel_on_disconnect");
  if (auto unknown = unknown_parameter(head, known)) return unknown;
  auto job = job_head_of(head);
  if (!job) return problem(400, job.error().text);
  const auto refusal = engine_.refuse_in_advance(std::move(*job));
  return refusal ? std::optional(refusal_response(*refusal)) : std::nullopt;
}

ApiResponse ApiRoutes::answer(ApiRequest request) {
  const std::string_view path = request.path;
  if (path == kJobs) return request.method == "GET" ? list_jobs(request) : submit(request);
  if (path == kProve) return prove(request);
  if (!circuit_methods(path).empty()) {
    return answer_circuits(engine_.control(), verification_, request);
  }
  if (!device_methods(path).empty()) return answer_devices(engine_, request);
  if (is_command(path)) return command(request, path.substr(4));
  const auto job = job_path(path);
  if (!job) return problem(404, "no resource '" + request.path + "'");
  if (job->wants_proof) return show_proof(job->id, request);
  return request.method == "GET" ? show_job(job->id, request) : cancel_job(job->id, request);
}

void ApiRoutes::set_witness_directories(Folders folders) {
  auto next = std::make_shared<const Folders>(std::move(folders));
  const std::lock_guard lock(folders_mutex_);
  witness_folders_ = std::move(next);
}

ApiRoutes::WitnessFolders ApiRoutes::witness_folders() {
  const std::lock_guard lock(folders_mutex_);
  return witness_folders_;
}

ApiResponse ApiRoutes::submit(ApiRequest& request) {
  auto job = job_request_of(request, *witness_folders());
  if (!job) return problem(400, job.error().text);
  const Reception received = engine_.receive(std::move(*job));
  if (!received) return refusal_response(received.error());
  const std::string id = std::to_string(received->job);
  const auto status = find_job(received->job, Clock::now());
  if (!status) return status.error();
  const bool is_new = received->novelty == Acceptance::Novelty::kNew;
  ApiResponse response = json_response(is_new ? 202 : 200, job_to_json(*status));
  response.headers["Location"] = std::string(kJobs) + "/" + id;
  return response;
}

ApiResponse ApiRoutes::prove(ApiRequest& request) {
  const std::string on_disconnect = value_or(request, "cancel_on_disconnect", "false");
  if (on_disconnect != "true" && on_disconnect != "false") {
    return problem(400, "cancel_on_disconnect: expected true or false");
  }
  auto job = job_request_of(request, *witness_folders());
  if (!job) return problem(400, job.error().text);
  const Submission submitted = engine_.submit(std::move(*job));
  if (!submitted) return refusal_response(submitted.error());
  auto status = find_job(*submitted, Clock::now());
  while (status && !status->is_final() && !status->is_left) {
    status = find_job(*submitted, Clock::now() + kLookForClient);
    if (!request.has_client_left()) continue;
    if (on_disconnect == "true") (void)engine_.cancel(*submitted);
    break;
  }
  if (!status) return status.error();
  if (status->record.state == shm::JobState::kDone) return result_of(*submitted);
  const std::string name = "job " + std::to_string(*submitted);
  if (!status->is_final()) return problem(503, name + " goes on at the next start of the engine");
  return problem(
      status->record.failure_class == shm::FailureClass::kBadInput ? 422 : 500,
      name + " " + std::string(shm::word(status->record.state)) + ": " + status->failure);
}

// Once the job is final, or at the deadline; also a job of before, as long as the store keeps it.
ApiRoutes::FoundJob ApiRoutes::find_job(JobId id, Engine::Deadline deadline) {
  if (auto status = engine_.wait(id, deadline)) return *status;
  auto past = engine_.past_job(id);
  if (!past) return problem(500, past.error().text);
  if (!*past) return problem(404, "no job " + std::to_string(id));
  return **past;
}

ApiResponse ApiRoutes::result_of(JobId id) {
  auto result = engine_.result(id);
  if (!result) {
    auto past = engine_.past_result(id);
    if (!past) return problem(500, past.error().text);
    result = *past;
  }
  // Between the look at the job and this one its time may have come.
  if (!result) return problem(404, "the result of job " + std::to_string(id) + " is not kept");
  return {200, *result + "\n", "application/json", {}};
}

Result<std::shared_ptr<const ProofTexts>> ApiRoutes::find_proof(JobId id, std::uint32_t partition) {
  auto proof = engine_.proof(id, partition);
  return proof ? proof : engine_.past_proof(id, partition);
}

ApiResponse ApiRoutes::proof_of(JobId id, std::uint32_t partition) {
  const auto proof = find_proof(id, partition);
  if (!proof) return problem(500, proof.error().text);
  if (*proof == nullptr) return no_proof(id, partition);
  return {200, proof_object(**proof) + "\n", "application/json", {}};
}

ApiResponse ApiRoutes::compressed_proofs(JobId id, std::uint32_t first, std::uint32_t count) {
  std::vector<std::shared_ptr<const ProofTexts>> proofs;
  for (std::uint32_t partition = first; partition < first + count; ++partition) {
    auto proof = find_proof(id, partition);
    if (!proof) return problem(500, proof.error().text);
    if (*proof == nullptr) return no_proof(id, partition);
    proofs.push_back(std::move(*proof));
  }
  const auto result = compressed_result(proofs);
  if (!result) return problem(422, "job " + std::to_string(id) + ": " + result.error().text);
  return {200, *result, "application/octet-stream", {}};
}

ApiResponse ApiRoutes::list_jobs(const ApiRequest& request) {
  if (auto unknown = unknown_parameter(request, {"state", "limit"})) return *unknown;
  const std::string word = value_or(request, "state", "");
  const auto state = job_state_from(word);
  if (!state && !word.empty()) return problem(400, "state: expected " + job_state_words());
  const auto limit = number_from<std::size_t>(value_or(request, "limit", "100"));
  if (!limit) return problem(400, "limit: expected a number");
  std::vector<shm::JobRecord> jobs = engine_.jobs();
  json::array shown;  // newest first
  for (auto job = jobs.rbegin(); job != jobs.rend() && shown.size() < *limit; ++job) {
    if (!state || *state == job->state) shown.push_back(job_to_json(*job));
  }
  return json_response(200, json::object{{"jobs", std::move(shown)}});
}

ApiResponse ApiRoutes::show_job(JobId id, const ApiRequest& request) {
  if (auto unknown = unknown_parameter(request, {"wait"})) return *unknown;
  const auto wait_ns = parse_duration_ns(value_or(request, "wait", "0ms"));
  if (!wait_ns) return problem(400, "wait: expected a duration such as 250ms, 5s, 10m");
  const auto most = std::chrono::nanoseconds(kWaitMax);
  const auto wait = std::min(std::chrono::nanoseconds(*wait_ns), most);
  const auto status = find_job(id, Clock::now() + wait);
  return status ? json_response(200, job_to_json(*status)) : status.error();
}

ApiResponse ApiRoutes::show_proof(JobId id, const ApiRequest& request) {
  if (auto unknown = unknown_parameter(request, {"partition", "format"})) return *unknown;
  const std::string format = value_or(request, "format", "json");
  if (format != "json" && format != "compressed") {
    return problem(400, "format: expected json or compressed");
  }
  const auto status = find_job(id, Clock::now());
  if (!status) return status.error();
  const std::uint32_t partitions = status->record.partitions;
  const bool is_compressed = format == "compressed";
  if (!request.query.contains("partition")) {
    if (status->record.state == shm::JobState::kDone) {
      return is_compressed ? compressed_proofs(id, 0, partitions) : result_of(id);
    }
    return problem(409, "job " + std::to_string(id) + " is " +
                            std::string(shm::word(status->record.state)) + ", not done");
  }
  const auto partition = number_from<std::uint32_t>(value_or(request, "partition", ""));
  if (!partition || *partition >= partitions) {
    return problem(404, "job " + std::to_string(id) + " has " + std::to_string(partitions) +
                            " partitions, counted from 0");
  }
  return is_compressed ? compressed_proofs(id, *partition, 1) : proof_of(id, *partition);
}

ApiResponse ApiRoutes::cancel_job(JobId id, const ApiRequest& request) {
  if (auto unknown = unknown_parameter(request, {})) return *unknown;
  const CancelOutcome outcome = engine_.cancel(id);
  const auto status = find_job(id, Clock::now());
  if (!status) return status.error();
  const bool was_cancelled = status->record.state == shm::JobState::kCancelled;
  if (outcome != CancelOutcome::kStopping && !was_cancelled) {
    return problem(409, "job " + std::to_string(id) + " is already " +
                            std::string(shm::word(status->record.state)));
  }
  return json_response(status->is_final() ? 200 : 202, job_to_json(*status));
}

ApiResponse ApiRoutes::command(const ApiRequest& request, std::string_view name) {
  if (auto unknown = unknown_parameter(request, {})) return *unknown;
  if (name == "reload") {
    return on_reload_ ? reload_response(on_reload_()) : problem(503, "there is nothing to reload");
  }
  if (name == "drain") {
    on_drain_();
  } else {
    engine_.set_pause(name == "pause" ? Engine::Pause::kOn : Engine::Pause::kOff);
  }
  return json_response(202, json::object{{"accepted", std::string(name)}});
}

}  // namespace vitrine::engine
