// SPDX-License-Identifier: Apache-2.0
// The schema text (shm/schema_text.h) for people: what `vitrine schema` shows.
#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "tools/styled_text.h"

namespace vitrine::tools {

// Every section with its fields: name, type, place, what it means, words of enumerations.
// Requires a document as shm::schema_text() writes it.
std::string schema_table(const boost::json::value& document, const TextStyle& style);

}  // namespace vitrine::tools
