// SPDX-License-Identifier: Apache-2.0
#include "tools/circuit_table.h"

#include <algorithm>
#include <boost/json.hpp>

#include "tools/size_text.h"
#include "tools/text_table.h"

namespace vitrine::tools {
namespace {

namespace json = boost::json;

constexpr std::size_t kDigestShown = 12;  // enough to tell keys apart

std::string text_at(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::uint64_t number_at(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  if (value == nullptr) return 0;
  if (value->is_uint64()) return value->get_uint64();
  if (!value->is_int64()) return 0;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, value->get_int64()));
}

bool truth_at(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr && value->is_bool() && value->get_bool();
}

CircuitDocument document_of(const json::object& object) {
  CircuitDocument circuit;
  circuit.circuit = text_at(object, "circuit");
  circuit.state = text_at(object, "state");
  circuit.priority = text_at(object, "priority");
  circuit.digest = text_at(object, "digest");
  circuit.cause = text_at(object, "cause");
  circuit.key_bytes = number_at(object, "key_bytes");
  circuit.references = number_at(object, "references");
  circuit.jobs = number_at(object, "jobs");
  circuit.hits = number_at(object, "hits");
  circuit.loads = number_at(object, "loads");
  circuit.evictions = number_at(object, "evictions");
  circuit.loaded_bytes = number_at(object, "loaded_bytes");
  circuit.total_bytes = number_at(object, "total_bytes");
  circuit.is_wanted = truth_at(object, "wanted");
  circuit.is_retired = truth_at(object, "retired");
  return circuit;
}

StyledText state_text(const CircuitDocument& circuit, Charset charset) {
  StyledText text(circuit.state);
  if (circuit.state == "loading" && circuit.total_bytes > 0) {
    const double share =
        static_cast<double>(circuit.loaded_bytes) / static_cast<double>(circuit.total_bytes);
    text.add(" " + std::to_string(static_cast<int>(std::min(share, 1.0) * 100)) + "%");
  }
  if (circuit.is_wanted) text.add(", to be loaded");
  if (circuit.is_retired) text.add(", retired");
  if (!circuit.cause.empty()) text.add(": ").add(printable(circuit.cause, charset), Tone::kBad);
  return text;
}

}  // namespace

Result<std::vector<CircuitDocument>> circuit_documents_of(const EngineReply& reply) {
  const Error error{ExitCode::kFailed, "the engine's answer does not list circuits"};
  const json::value value = reply.json();
  if (!value.is_object()) return error;
  const json::value* list = value.get_object().if_contains("circuits");
  if (list == nullptr || !list->is_array()) return error;
  std::vector<CircuitDocument> circuits;
  for (const json::value& circuit : list->get_array()) {
    if (!circuit.is_object()) return error;
    circuits.push_back(document_of(circuit.get_object()));
  }
  return circuits;
}

std::string circuit_table(const std::vector<CircuitDocument>& circuits, const TextStyle& style) {
  TextTable table({{"CIRCUIT"},
                   {"BYTES", Align::kRight},
                   {"JOBS", Align::kRight},
                   {"USERS", Align::kRight},
                   {"HITS", Align::kRight},
                   {"LOADS", Align::kRight},
                   {"EVICTED", Align::kRight},
                   {"PRIORITY"},
                   {"DIGEST"},
                   {"STATE"}});
  for (const CircuitDocument& circuit : circuits) {
    table.add_row({cell(printable(circuit.circuit, style.charset)),
                   cell(size_text(circuit.key_bytes)), cell(std::to_string(circuit.jobs)),
                   cell(std::to_string(circuit.references)), cell(std::to_string(circuit.hits)),
                   cell(std::to_string(circuit.loads)), cell(std::to_string(circuit.evictions)),
                   cell(printable(circuit.priority, style.charset)),
                   cell(printable(circuit.digest, style.charset).substr(0, kDigestShown)),
                   cell(state_text(circuit, style.charset))});
  }
  return table.empty() ? "no circuits\n" : table.text(style, 0);
}

}  // namespace vitrine::tools
