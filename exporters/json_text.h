// SPDX-License-Identifier: Apache-2.0
// JSON text of a value: the only place where exporters turn numbers and strings into JSON.
//
// Layout   integers exact; floats by the shortest text that reads back the same, always with a
//          point or an exponent (12.0), so that a typed client reads a float; a number that is not
//          finite is null; bytes that are not UTF-8 become U+FFFD; `<`, U+2028 and U+2029 are
//          escaped, so the text may stand inside a page.
// Why      boost::json::serialize writes 12.0 as 1.2E1, which many clients read as text or int.
// Threads  pure.
#pragma once

#include <boost/json/value.hpp>
#include <string>

namespace vitrine::exporters {

std::string json_text(const boost::json::value& value);

}  // namespace vitrine::exporters
