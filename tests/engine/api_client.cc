// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/api_client.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace vitrine::engine::testing {
namespace {

shm::FileDescriptor connect_to(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  shm::FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(socket.number(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    throw std::runtime_error("nothing listens at " + path.string());
  }
  return socket;
}

}  // namespace

std::string ApiAnswer::header(const std::string& name) const {
  const std::size_t at = head.find("\r\n" + name + ": ");
  if (at == std::string::npos) return {};
  const std::size_t begin = at + name.size() + 4;
  return head.substr(begin, head.find("\r\n", begin) - begin);
}

// An engine that refuses early closes before it has read everything: that is no error here.
HeldConnection::HeldConnection(const std::filesystem::path& socket, const std::string& bytes)
    : socket_(connect_to(socket)) {
  (void)::send(socket_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

ApiAnswer HeldConnection::answer() const {
  std::string bytes;
  char buffer[16384];
  for (ssize_t size = 0; (size = ::recv(socket_.number(), buffer, sizeof(buffer), 0)) > 0;) {
    bytes.append(buffer, static_cast<std::size_t>(size));
  }
  const std::size_t end = std::min(bytes.find("\r\n\r\n"), bytes.size());
  ApiAnswer answer;
  answer.head = bytes.substr(0, end);
  if (end + 4 <= bytes.size()) answer.body = bytes.substr(end + 4);
  if (answer.head.size() > 12) answer.status = std::atoi(answer.head.c_str() + 9);
  return answer;
}

ApiAnswer ApiClient::raw(const std::string& request) const {
  return HeldConnection(socket_, request).answer();
}

std::size_t ApiClient::drip(const std::string& head) const {
  const shm::FileDescriptor socket = connect_to(socket_);
  std::string next = head;
  while (::send(socket.number(), next.data(), next.size(), MSG_NOSIGNAL) > 0) {
    next = "x";
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  char buffer[256];
  const ssize_t size = ::recv(socket.number(), buffer, sizeof(buffer), MSG_DONTWAIT);
  return size > 0 ? static_cast<std::size_t>(size) : 0;
}

ApiAnswer ApiClient::send(const std::string& method, const std::string& target,
                          const std::string& content_type, const std::string& body) const {
  std::string request = method + " " + target + " HTTP/1.1\r\nHost: v\r\nConnection: close\r\n";
  if (!content_type.empty()) request += "Content-Type: " + content_type + "\r\n";
  if (!body.empty()) request += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  return raw(request + "\r\n" + body);
}

ApiAnswer ApiClient::post_form(const std::string& target, const std::vector<std::string>& bodies,
                               const std::string& name) const {
  std::string form;
  for (const std::string& body : bodies) {
    form += "--edge\r\nContent-Disposition: form-data; name=\"" + name +
            "\"; filename=\"w\"\r\nContent-Type: application/octet-stream\r\n\r\n" + body + "\r\n";
  }
  return send("POST", target, "multipart/form-data; boundary=edge", form + "--edge--\r\n");
}

}  // namespace vitrine::engine::testing
