// SPDX-License-Identifier: Apache-2.0
// A request's head and an answer as plain values, so that rules and routes are pure functions of
// them and know nothing of the server library.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace vitrine::exporters {

struct Header {
  std::string name;
  std::string value;
};

// As it came over the connection: nothing is decoded, nothing is checked yet.
struct RequestHead {
  std::string method;
  std::string target;   // raw, with its query
  std::string version;  // HTTP/1.1
  std::vector<Header> headers;
  std::string local_address;  // numeric address the client reached; empty on a Unix socket

  // The number of headers of this name, whatever their case.
  std::size_t count(std::string_view name) const;
  // The first value of this name; empty when there is none.
  std::string_view value(std::string_view name) const;
};

enum class Connection { kKeep, kClose };

struct Response {
  int status = 200;
  std::string content_type;
  std::vector<Header> headers;
  std::string body;
  Connection connection = Connection::kKeep;
};

// Answers are shared: the same one may go to many clients at once.
using SharedResponse = std::shared_ptr<const Response>;

// Threads  called by every listener's thread at the same time.
using RequestHandler = std::function<SharedResponse(const RequestHead&)>;

// Compares ASCII letters without regard to case, as header and host names are compared.
bool equals_ignoring_case(std::string_view a, std::string_view b);

// An answer of data, which no browser may run or show inside another page.
Response data_response(int status, std::string content_type, std::string body);

// An error as problem JSON. `detail` is one sentence for a person.
// Source   RFC 9457.
Response problem(int status, std::string_view detail);

}  // namespace vitrine::exporters
