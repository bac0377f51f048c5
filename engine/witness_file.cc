// SPDX-License-Identifier: Apache-2.0
#include "engine/witness_file.h"

#include "shm/printable_text.h"

namespace vitrine::engine {

std::string witness_label(std::size_t partition, const WitnessFile& file) {
  return witness_label(partition, file.copy ? file.name : shm::printable_text(file.path.string()));
}

std::string witness_label(std::size_t partition, std::string_view name) {
  std::string label = "witness " + std::to_string(partition);
  if (!name.empty()) label.append(" (").append(name).append(")");
  return label;
}

}  // namespace vitrine::engine
