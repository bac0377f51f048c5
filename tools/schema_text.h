// SPDX-License-Identifier: Apache-2.0
// The catalogue for people and programs: what `vitrine schema` shows.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "tools/styled_text.h"

namespace vitrine::tools {

// Every table with its fields: name, type, place, what it means; words of enumerations below.
std::string schema_text(const TextStyle& style);

boost::json::object schema_json();

}  // namespace vitrine::tools
