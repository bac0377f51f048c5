// SPDX-License-Identifier: Apache-2.0
#include "engine/api_circuits.h"

#include <boost/json.hpp>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "engine/api_json.h"
#include "engine/settings.h"

namespace vitrine::engine {
namespace {

namespace json = boost::json;

constexpr std::string_view kCircuits = "/v1/circuits";

enum class Verb { kPreload, kEvict, kVerify };

// Of `/v1/circuits/ID/VERB`.
struct CircuitOrder {
  std::string id;
  Verb verb{};
};

std::optional<CircuitOrder> order_of(std::string_view path) {
  if (!path.starts_with(kCircuits)) return std::nullopt;
  path.remove_prefix(kCircuits.size());
  if (!path.starts_with('/')) return std::nullopt;
  path.remove_prefix(1);
  const std::size_t slash = path.find('/');
  const std::string_view id = path.substr(0, slash);
  if (slash == std::string_view::npos || !is_circuit_id(id)) return std::nullopt;
  constexpr std::pair<std::string_view, Verb> kVerbs[] = {
      {"preload", Verb::kPreload}, {"evict", Verb::kEvict}, {"verify", Verb::kVerify}};
  for (const auto& [word, verb] : kVerbs) {
    if (path.substr(slash + 1) == word) return CircuitOrder{std::string(id), verb};
  }
  return std::nullopt;
}

ApiResponse shown(unsigned status, const json::value& value) {
  return {status, json::serialize(value) + "\n", "application/json", {}};
}

ApiResponse list(EngineControl& control) {
  json::array circuits;
  for (const CircuitStatus& circuit : control.circuits()) {
    circuits.push_back(circuit_to_json(circuit));
  }
  return shown(200, json::object{{"circuits", std::move(circuits)}});
}

// The circuit as it is now, in answer to an order.
ApiResponse answer_order(EngineControl& control, const std::string& id,
                         const CircuitAnswer& answer) {
  switch (answer.kind) {
    case CircuitAnswer::Kind::kUnknown:
      return problem(404, answer.text);
    case CircuitAnswer::Kind::kImpossible:
      return problem(422, answer.text);
    case CircuitAnswer::Kind::kInUse:
      return problem(409, answer.text);
    case CircuitAnswer::Kind::kDraining:
      return problem(503, answer.text);
    case CircuitAnswer::Kind::kAccepted:
    case CircuitAnswer::Kind::kNothingToDo:
      break;
  }
  const auto circuit = control.circuit(id);
  if (!circuit) return problem(404, "no circuit '" + id + "'");
  const bool is_under_way = answer.kind == CircuitAnswer::Kind::kAccepted;
  return shown(is_under_way ? 202 : 200, circuit_to_json(*circuit));
}

unsigned status_of(ErrorClass error_class) {
  switch (error_class) {
    case ErrorClass::kBadInput:
    case ErrorClass::kUsage:
      return 422;
    case ErrorClass::kRefused:
      return 409;
    case ErrorClass::kCancelled:
    case ErrorClass::kTimeout:
      return 503;
    default:
      return 500;
  }
}

ApiResponse verify(EngineControl& control, KeyVerification& verification, const ApiRequest& request,
                   const std::string& id) {
  const auto circuit = control.circuit(id);
  if (!circuit) return problem(404, "no circuit '" + id + "'");
  const auto digest = verification.perform(
      circuit->configuration, [&] { return request.has_client_left() || control.is_draining(); });
  if (!digest) {
    if (digest.error().error_class == ErrorClass::kBadInput) {
      control.log("key not verified", id + ": " + digest.error().text, JournalLevel::kWarn);
    }
    return problem(status_of(digest.error().error_class), digest.error().text);
  }
  control.log("key verified", id + ": sha256 " + *digest, JournalLevel::kInfo);
  return shown(200, json::object{{"circuit", id},
                                 {"zkey", circuit->configuration.zkey.string()},
                                 {"digest", *digest},
                                 {"pinned", !circuit->configuration.digest.empty()}});
}

json::array texts(const std::vector<std::string>& list) {
  json::array array;
  for (const std::string& text : list) array.emplace_back(text);
  return array;
}

}  // namespace

std::vector<std::string_view> circuit_methods(std::string_view path) {
  if (path == kCircuits) return {"GET"};
  if (order_of(path)) return {"POST"};
  return {};
}

ApiResponse answer_circuits(EngineControl& control, KeyVerification& verification,
                            const ApiRequest& request) {
  if (!request.query.empty()) {
    return problem(400, "unknown parameter '" + request.query.begin()->first + "'");
  }
  const auto order = order_of(request.path);
  if (!order) return list(control);
  switch (order->verb) {
    case Verb::kPreload:
      return answer_order(control, order->id, control.preload(order->id));
    case Verb::kEvict:
      return answer_order(control, order->id, control.evict(order->id));
    case Verb::kVerify:
      return verify(control, verification, request, order->id);
  }
  std::abort();
}

ApiResponse reload_response(const Result<ReloadReport>& report) {
  if (!report) {
    const bool is_refused = report.error().error_class == ErrorClass::kRefused;
    return problem(is_refused ? 503 : 422, report.error().text);
  }
  return shown(
      200, json::object{{"circuits", json::object{{"added", texts(report->circuits.added)},
                                                  {"removed", texts(report->circuits.removed)},
                                                  {"changed", texts(report->circuits.changed)}}},
                        {"settings", texts(report->settings)},
                        {"at_next_start", texts(report->at_next_start)}});
}

}  // namespace vitrine::engine
