// SPDX-License-Identifier: Apache-2.0
#include "exporters/http_page.h"

namespace vitrine::exporters {

namespace {

// Scripts and styles only as files of this server: nothing inline, nothing from elsewhere.
constexpr char kPagePolicy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

std::string_view content_type_of(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  return "image/svg+xml";
}

}  // namespace

std::optional<Response> page_response(std::string_view path) {
  const std::string_view name = path == "/" ? "index.html" : path.substr(1);
  for (const PageFile& file : page_files()) {
    if (file.name != name) continue;
    Response response;
    response.content_type = content_type_of(name);
    response.headers.push_back({"Content-Security-Policy", kPagePolicy});
    response.headers.push_back({"Referrer-Policy", "no-referrer"});
    response.body = file.bytes;
    return response;
  }
  return std::nullopt;
}

}  // namespace vitrine::exporters
