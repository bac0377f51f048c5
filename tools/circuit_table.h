// SPDX-License-Identifier: Apache-2.0
// The circuits of an engine as it describes them, read, and as a table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/engine_client.h"
#include "tools/styled_text.h"

namespace vitrine::tools {

struct CircuitDocument {
  std::string circuit, state, priority, digest, cause;
  std::uint64_t key_bytes = 0, references = 0, jobs = 0, hits = 0, loads = 0, evictions = 0;
  std::uint64_t loaded_bytes = 0, total_bytes = 0;
  bool is_wanted = false;
  bool is_retired = false;
};

// Errors: kFailed when the answer does not list circuits.
Result<std::vector<CircuitDocument>> circuit_documents_of(const EngineReply& reply);

std::string circuit_table(const std::vector<CircuitDocument>& circuits, const TextStyle& style);

}  // namespace vitrine::tools
