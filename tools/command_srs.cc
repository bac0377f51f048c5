// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <boost/json.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include "tools/circuit_table.h"
#include "tools/command.h"
#include "tools/engine_socket.h"
#include "tools/job_command.h"
#include "tools/terminal.h"

namespace vitrine::tools {
namespace {

namespace json = boost::json;

constexpr std::uint64_t kVerifyNs = 3'700'000'000'000;  // a little more than the engine takes
constexpr auto kLookAgain = std::chrono::milliseconds(100);

struct SrsFlags {
  std::string verb, circuit;
  bool wait = false;
  std::optional<std::uint64_t> timeout_ns;
  bool json = false;
};

Result<EngineReply> ask(const EngineClient& engine, const EngineRequest& request) {
  Result<EngineReply> reply = engine.send(request);
  if (reply && !reply->is_success()) return refusal_of(*reply);
  return reply;
}

Result<EngineReply> ask_for_circuits(const EngineClient& engine) {
  EngineRequest request;
  request.target = "/v1/circuits";
  return ask(engine, request);
}

Result<ExitCode> write(const CommandContext& context, const std::string& text) {
  if (const auto written = context.output.write(text); !written) return written.error();
  return ExitCode::kOk;
}

Result<ExitCode> list(const CommandContext& context, const SrsFlags& flags,
                      const EngineClient& engine) {
  const Result<EngineReply> reply = ask_for_circuits(engine);
  if (!reply) return reply.error();
  if (flags.json) return write(context, json::serialize(reply->json()) + "\n");
  const auto circuits = circuit_documents_of(*reply);
  if (!circuits) return circuits.error();
  return write(context, circuit_table(*circuits, text_style_of(context.output.descriptor())));
}

// The circuit of that id as it is now.
Result<CircuitDocument> look(const EngineClient& engine, const std::string& id) {
  const Result<EngineReply> reply = ask_for_circuits(engine);
  if (!reply) return reply.error();
  const auto circuits = circuit_documents_of(*reply);
  if (!circuits) return circuits.error();
  const auto at = std::ranges::find(*circuits, id, &CircuitDocument::circuit);
  if (at == circuits->end()) return Error{ExitCode::kUsage, "no circuit '" + id + "'"};
  return *at;
}

// Until the key is there or will not come.
Result<CircuitDocument> wait_for_key(const EngineClient& engine, const SrsFlags& flags) {
  const auto began = std::chrono::steady_clock::now();
  while (true) {
    const auto circuit = look(engine, flags.circuit);
    if (!circuit) return circuit.error();
    const bool is_coming =
        circuit->state == "loading" || circuit->state == "evicting" || circuit->is_wanted;
    if (circuit->state == "ready") return circuit;
    if (!is_coming) {
      const std::string why = circuit->cause.empty() ? circuit->state : circuit->cause;
      return Error{ExitCode::kFailed, "the key is not loaded: " + why};
    }
    const auto waited = std::chrono::steady_clock::now() - began;
    if (flags.timeout_ns && waited >= std::chrono::nanoseconds(*flags.timeout_ns)) {
      return Error{ExitCode::kTimeout, "the key is not loaded in time"};
    }
    std::this_thread::sleep_for(kLookAgain);
  }
}

std::string verified_text(const json::value& reply) {
  const auto* digest = reply.is_object() ? reply.get_object().if_contains("digest") : nullptr;
  const bool is_text = digest != nullptr && digest->is_string();
  return "good, sha256 " + (is_text ? std::string(digest->get_string()) : "unknown") + "\n";
}

// Answers what is to be said.
Result<std::string> order(const SrsFlags& flags, const EngineClient& engine) {
  EngineRequest request;
  request.method = "POST";
  request.target = "/v1/circuits/" + url_escaped(flags.circuit) + "/" + flags.verb;
  if (flags.verb == "verify") request.answer_within_ns = kVerifyNs;
  const Result<EngineReply> reply = engine.send(request);
  if (!reply) return reply.error();
  if (reply->status == 422 && flags.verb == "verify") {
    return Error{ExitCode::kFailed, reply->problem()};
  }
  if (!reply->is_success()) return refusal_of(*reply);
  if (flags.verb == "preload" && flags.wait) {
    const auto circuit = wait_for_key(engine, flags);
    if (!circuit) return circuit.error();
    if (!flags.json) return "circuit " + flags.circuit + ": ready\n";
  }
  if (flags.json) return json::serialize(reply->json()) + "\n";
  if (flags.verb == "verify")
    return "circuit " + flags.circuit + ": " + verified_text(reply->json());
  return "circuit " + flags.circuit + ": " + flags.verb +
         (reply->status == 202 ? " begun\n" : ", nothing to do\n");
}

Result<ExitCode> run_srs(const CommandContext& context, const SrsFlags& flags) {
  if (!flags.verb.empty() && flags.circuit.empty()) {
    return Error{ExitCode::kUsage, flags.verb + ": the circuit is missing"};
  }
  if (flags.verb != "preload" && (flags.wait || flags.timeout_ns)) {
    return Error{ExitCode::kUsage, "--wait and --timeout are for preload"};
  }
  const Result<EngineClient> engine = find_engine(context.flags);
  if (!engine) return engine.error();
  if (flags.verb.empty()) return list(context, flags, *engine);
  const Result<std::string> text = order(flags, *engine);
  if (!text) return text.error();
  return write(context, *text);
}

}  // namespace

Command srs_command() {
  const auto flags = std::make_shared<SrsFlags>();
  return {"srs", "List the proving keys of an engine, or load, drop or check one",
          "0 done or begun, 1 the key is in use, not good or not loaded, 2 usage or no such "
          "circuit, 3 no engine, 7 no answer in time, 8 refused",
          [flags](FlagSet& set) {
            set.choice("VERB", flags->verb, {"preload", "evict", "verify"},
                       "What to do with the key; without it the keys are listed");
            set.text("ID", flags->circuit, "The circuit that it is of");
            set.toggle("--wait", flags->wait, "With preload: until the key is there or refused");
            set.duration("--timeout", flags->timeout_ns, "With --wait: at most so long");
            set.toggle("--json", flags->json, "One JSON document and nothing else");
          },
          [flags](const CommandContext& context) { return run_srs(context, *flags); }};
}

}  // namespace vitrine::tools
