// SPDX-License-Identifier: Apache-2.0
#include "exporters/http_message.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <utility>

#include "exporters/json_text.h"

namespace vitrine::exporters {

namespace {

char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

std::string_view title_of(int status) {
  switch (status) {
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 421:
      return "Misdirected Request";
    case 503:
      return "Service Unavailable";
    default:
      return "Error";
  }
}

}  // namespace

std::size_t RequestHead::count(std::string_view name) const {
  return static_cast<std::size_t>(std::count_if(
      headers.begin(), headers.end(),
      [name](const Header& header) { return equals_ignoring_case(header.name, name); }));
}

std::string_view RequestHead::value(std::string_view name) const {
  for (const Header& header : headers) {
    if (equals_ignoring_case(header.name, name)) return header.value;
  }
  return {};
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

Response data_response(int status, std::string content_type, std::string body) {
  Response response;
  response.status = status;
  response.content_type = std::move(content_type);
  response.headers.push_back(
      {"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"});
  response.body = std::move(body);
  return response;
}

Response problem(int status, std::string_view detail) {
  boost::json::object document{
      {"type", "about:blank"}, {"title", title_of(status)}, {"status", status}, {"detail", detail}};
  return data_response(status, "application/problem+json", json_text(document) + "\n");
}

}  // namespace vitrine::exporters
