// SPDX-License-Identifier: Apache-2.0
// The web page's files (exporters/page/), built into the program.
//
// Why   the page must come from the same build as the JSON that it reads, and the program must
//       serve it wherever it is copied to.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "exporters/http_message.h"

namespace vitrine::exporters {

struct PageFile {
  std::string_view name;  // as in exporters/page/
  std::string_view bytes;
};

// Every file of exporters/page/; the build writes this function's source.
std::span<const PageFile> page_files();

// The answer for `path`: "/" is index.html, "/NAME" the file of that name, nothing otherwise.
std::optional<Response> page_response(std::string_view path);

}  // namespace vitrine::exporters
