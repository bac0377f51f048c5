// SPDX-License-Identifier: Apache-2.0
// Speaks to an engine: HTTP over its Unix socket.
//
// Threads  one at a time.
// Why      a client that reads the segment needs none of this; only what changes the engine's
//          work goes through the socket.
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tools/error.h"

namespace vitrine::tools {

struct EngineRequest {
  std::string method = "GET";
  std::string target;                               // path and query, already escaped
  std::vector<std::filesystem::path> files;         // sent as the parts of a form
  std::string part_name = "witness";                // of each
  std::uint64_t answer_within_ns = 10'000'000'000;  // from the last byte that moved, either way
};

struct EngineReply {
  unsigned status = 0;
  std::string body;  // at most kReplyBytesMax

  bool is_success() const { return status >= 200 && status < 300; }
  // The body as JSON; null when it is not JSON.
  boost::json::value json() const;
  // What went wrong, from the `detail` or `title` of a problem document, else from the status.
  std::string problem() const;
};
inline constexpr std::size_t kReplyBytesMax = std::size_t{64} << 20;

class EngineClient {
 public:
  // Asked when the engine ends a connection without an answer: whether it is there all the same.
  using StaysAlive = std::function<bool()>;
  explicit EngineClient(std::filesystem::path socket_path, StaysAlive stays_alive = {});

  // Connects within 5 s. Errors: kNoEngine when nothing answers at the socket, the socket is not
  // for this user, or the engine went away meanwhile; kRefused when it lives and does not answer;
  // kUsage for a file that cannot be read; kTimeout; kFailed for an answer that is not HTTP.
  // Every status of a complete answer is a reply.
  Result<EngineReply> send(const EngineRequest& request) const;

  [[nodiscard]] const std::filesystem::path& socket_path() const { return socket_path_; }

 private:
  [[nodiscard]] Error no_answer() const;

  std::filesystem::path socket_path_;
  StaysAlive stays_alive_;
};

// `text` with everything but letters, digits and -._~ as %NN.
std::string url_escaped(std::string_view text);

}  // namespace vitrine::tools
