// SPDX-License-Identifier: Apache-2.0
// A client of the API that sends exactly the bytes a test gives it.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "shm/file_descriptor.h"

namespace vitrine::engine::testing {

struct ApiAnswer {
  int status = 0;
  std::string head;  // status line and headers
  std::string body;

  // The text after NAME: in the head; empty when there is none.
  std::string header(const std::string& name) const;
};

// A connection that stays as long as the object; throws when nothing listens.
class HeldConnection {
 public:
  // Sends `bytes`, as far as the engine takes them.
  HeldConnection(const std::filesystem::path& socket, const std::string& bytes);
  // Reads until the engine closes.
  ApiAnswer answer() const;

 private:
  shm::FileDescriptor socket_;
};

class ApiClient {
 public:
  explicit ApiClient(std::filesystem::path socket) : socket_(std::move(socket)) {}

  // Sends and reads until the engine closes. Throws when nothing listens.
  ApiAnswer raw(const std::string& request) const;
  ApiAnswer get(const std::string& target) const { return send("GET", target, "", ""); }
  ApiAnswer send(const std::string& method, const std::string& target,
                 const std::string& content_type, const std::string& body) const;
  // Sends `head`, then a byte every 10 ms, until the engine closes; the bytes that it answered.
  std::size_t drip(const std::string& head) const;
  // A form with one part named `name` for each body.
  ApiAnswer post_form(const std::string& target, const std::vector<std::string>& bodies,
                      const std::string& name = "witness") const;

 private:
  std::filesystem::path socket_;
};

}  // namespace vitrine::engine::testing
