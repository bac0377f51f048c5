// SPDX-License-Identifier: Apache-2.0
// A field that an engine of its own adds to a table of the catalogue: it follows the table's own
// members, and every output shows it by its description in the schema text.
#pragma once

#include <cstdint>
#include <string>

#include "shm/catalogue.h"

namespace vitrine::shm {

struct ExtraField {
  SectionId table{};
  std::string name;                  // begins with x_, so that no later catalogue can take it
  FieldType type = FieldType::kU64;  // or kText
  std::uint32_t size_bytes = 8;      // of a text: a multiple of 8
  Semantics semantics = Semantics::kInfo;
  std::string help;
};

// Bytes of all extra fields of one table.
inline constexpr std::uint32_t kExtraBytesMax = 256;

}  // namespace vitrine::shm
