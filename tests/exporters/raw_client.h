// SPDX-License-Identifier: Apache-2.0
// A client that sends exactly the bytes it is told to and reads what comes back.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace vitrine::exporters::testing {

struct RawAnswer {
  int status = 0;
  std::string head;  // status line and headers
  std::string body;

  std::string header(const std::string& name) const {
    const std::size_t at = head.find("\r\n" + name + ": ");
    if (at == std::string::npos) return {};
    const std::size_t begin = at + 2 + name.size() + 2;
    return head.substr(begin, head.find("\r\n", begin) - begin);
  }
};

class RawClient {
 public:
  // To 127.0.0.1.
  explicit RawClient(std::uint16_t port) : descriptor_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(port);
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connect_to(reinterpret_cast<const sockaddr*>(&name), sizeof name);
  }
  explicit RawClient(const std::string& path) : descriptor_(socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    REQUIRE(path.size() < sizeof name.sun_path);
    std::memcpy(name.sun_path, path.c_str(), path.size() + 1);
    connect_to(reinterpret_cast<const sockaddr*>(&name), sizeof name);
  }
  RawClient(RawClient&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  RawClient& operator=(RawClient&&) = delete;
  ~RawClient() {
    if (descriptor_ >= 0) close(descriptor_);
  }

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;  // the server has had enough; the test reads its answer
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  // The next answer; status 0 when the connection ends first. `method` HEAD has no body.
  RawAnswer read_answer(std::string_view method = "GET") {
    RawAnswer answer;
    std::size_t end;
    while ((end = pending_.find("\r\n\r\n")) == std::string::npos) {
      if (!read_more()) return answer;
    }
    answer.head = pending_.substr(0, end + 2);
    pending_.erase(0, end + 4);
    answer.status = std::stoi(answer.head.substr(9, 3));
    const std::string length = answer.header("Content-Length");
    const std::size_t bytes = method == "HEAD" || length.empty() ? 0 : std::stoul(length);
    while (pending_.size() < bytes) {
      if (!read_more()) return answer;
    }
    answer.body = pending_.substr(0, bytes);
    pending_.erase(0, bytes);
    return answer;
  }

  RawAnswer ask(std::string_view request) {
    send(request);
    return read_answer();
  }

  // True when the server ended the connection and nothing more came.
  bool is_ended() { return pending_.empty() && !read_more(); }

 private:
  static constexpr timeval kDeadline{20, 0};  // reached only when the server hangs

  void connect_to(const sockaddr* name, socklen_t length) {
    REQUIRE(descriptor_ >= 0);
    setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &kDeadline, sizeof kDeadline);
    setsockopt(descriptor_, SOL_SOCKET, SO_SNDTIMEO, &kDeadline, sizeof kDeadline);
    REQUIRE(connect(descriptor_, name, length) == 0);
  }

  bool read_more() {
    char bytes[16384];
    const ssize_t count = recv(descriptor_, bytes, sizeof bytes, 0);
    const bool timed_out = count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    REQUIRE_FALSE(timed_out);
    if (count <= 0) return false;
    pending_.append(bytes, static_cast<std::size_t>(count));
    return true;
  }

  int descriptor_;
  std::string pending_;
};

// A whole request for `target` with the headers that a browser on this machine sends.
inline std::string get_request(const std::string& target, const std::string& more_headers = "") {
  return "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n" + more_headers + "\r\n";
}

}  // namespace vitrine::exporters::testing
