// SPDX-License-Identifier: Apache-2.0
// What is behind a vitrine_snapshot: one look, and its values by the names of table and field.
#pragma once

#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shm/attachment.h"
#include "shm/vitrine.h"

struct vitrine_snapshot {
  vitrine::shm::Observation observation;

  struct Table {
    std::string name;
    std::vector<std::string> fields;
  };
  // Made when they are first asked for, as is the JSON text.
  mutable std::once_flag tables_made;
  mutable std::vector<Table> tables;
  mutable std::once_flag json_made;
  mutable std::string json;
};

namespace vitrine::shm {

// A field of a row: its description and the bytes that it describes.
struct Cell {
  Field field;
  std::span<const std::byte> record;
};

// Rows in use of a table; negative: there is no such table.
std::int64_t count_rows(const Observation& observation, std::string_view table);

// Errors: VITRINE_NO_SUCH_ITEM, VITRINE_ABSENT when nothing was read.
int find_cell(const Observation& observation, const vitrine_place& place, Cell& out);

// Every table with its fields, those of the segment's own schema too.
std::vector<vitrine_snapshot::Table> list_tables(const Observation& observation);

}  // namespace vitrine::shm
