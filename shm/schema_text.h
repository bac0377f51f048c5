// SPDX-License-Identifier: Apache-2.0
// The schema text: the catalogue as one JSON document, which lies in every segment so that a reader
// of another version, or in another language, can show what it was not built to know.
//
// Layout   {"schema", "version", "byte_order", "line_bytes", "slots", "sections": [{"id", "name",
//          "kind", "shape", "record_bytes", "help", "fields": [{"name", "type", "offset", "size",
//          "semantics", "unit", "stability", "help", and for an enumeration "words": the word of
//          value i at place i, for a histogram "bounds_ns"}]}]}. Reserved bytes are not listed.
// Units    offsets and sizes in bytes from the start of the payload.
// Threads  any.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "shm/extra_field.h"

namespace vitrine::shm {

// The catalogue's text, with the fields that the engine adds to its tables.
std::string schema_text(std::span<const ExtraField> extra_fields = {});

// What the header holds of the text. FNV-1a, 64 bits. Source: Fowler, Noll, Vo (the IETF draft
// draft-eastlake-fnv).
std::uint64_t schema_hash(std::string_view text);

// Length of the text that a reader is willing to parse.
inline constexpr std::size_t kSchemaBytesMax = std::size_t{1} << 20;

}  // namespace vitrine::shm
