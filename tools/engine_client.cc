// SPDX-License-Identifier: Apache-2.0
#include "tools/engine_client.h"

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/json/parse.hpp>
#include <optional>
#include <utility>

#include "tools/engine_connection.h"
#include "tools/witness_form.h"

namespace vitrine::tools {
namespace {

namespace beast = boost::beast;

// The engine's connection is for this request alone.
std::string head_of(const EngineRequest& request, const WitnessForm* form) {
  std::string head =
      request.method + " " + request.target + " HTTP/1.1\r\nHost: vitrine\r\nConnection: close\r\n";
  if (form != nullptr) {
    head += "Content-Type: " + form->content_type() +
            "\r\nContent-Length: " + std::to_string(form->bytes()) + "\r\n";
  }
  return head + "\r\n";
}

Error not_http(const std::filesystem::path& socket_path, const beast::error_code& problem) {
  return {ExitCode::kFailed,
          "talking to the engine at " + socket_path.string() + ": " + problem.message()};
}

class ReplyReader {
 public:
  ReplyReader() {
    parser_.body_limit(kReplyBytesMax);
    parser_.eager(true);  // the body too, not only the head
  }

  // Nothing when the connection ended before the answer did.
  Result<std::optional<EngineReply>> read(EngineConnection& connection,
                                          const std::filesystem::path& path) {
    while (!parser_.is_done()) {
      const auto room = received_.prepare(kPieceBytes);
      const auto count = connection.receive({static_cast<char*>(room.data()), room.size()});
      if (!count) return count.error();
      if (*count == 0) {
        if (is_whole_at_end()) break;
        return std::optional<EngineReply>();
      }
      received_.commit(*count);
      beast::error_code problem;
      received_.consume(parser_.put(received_.data(), problem));
      if (problem && problem != beast::http::error::need_more) return not_http(path, problem);
    }
    auto answer = parser_.release();
    return std::optional(EngineReply{answer.result_int(), std::move(answer.body())});
  }

 private:
  static constexpr std::size_t kPieceBytes = std::size_t{64} << 10;

  // Some answers end where the connection does.
  bool is_whole_at_end() {
    beast::error_code problem;
    if (parser_.got_some()) parser_.put_eof(problem);
    return !problem && parser_.is_done();
  }

  beast::http::response_parser<beast::http::string_body> parser_;
  beast::flat_buffer received_;
};

}  // namespace

boost::json::value EngineReply::json() const {
  boost::json::error_code problem;
  boost::json::value value = boost::json::parse(body, problem);
  return problem ? boost::json::value() : value;
}

std::string EngineReply::problem() const {
  const boost::json::value document = json();
  for (const char* key : {"detail", "title"}) {
    if (!document.is_object()) break;
    const boost::json::value* text = document.get_object().if_contains(key);
    if (text != nullptr && text->is_string()) return std::string(text->get_string());
  }
  return "the engine answered with HTTP status " + std::to_string(status);
}

EngineClient::EngineClient(std::filesystem::path socket_path, StaysAlive stays_alive)
    : socket_path_(std::move(socket_path)), stays_alive_(std::move(stays_alive)) {}

Error EngineClient::no_answer() const {
  const std::string engine = "the engine at " + socket_path_.string();
  if (!stays_alive_ || !stays_alive_()) return {ExitCode::kNoEngine, engine + " went away"};
  return {ExitCode::kRefused,
          engine +
              " lives, but closed the connection without an answer: it has too many, or this "
              "request came too slowly; try again"};
}

Result<EngineReply> EngineClient::send(const EngineRequest& request) const {
  std::optional<WitnessForm> form;
  if (!request.files.empty()) {
    Result<WitnessForm> readable = WitnessForm::of(request.files, request.part_name);
    if (!readable) return readable.error();
    form = std::move(*readable);
  }
  auto connection = EngineConnection::open(socket_path_, request.answer_within_ns);
  if (!connection) return connection.error();
  Result<bool> sent = connection->send(head_of(request, form ? &*form : nullptr));
  if (sent && *sent && form) sent = form->send(*connection);
  if (!sent) return sent.error();
  // An engine that did not take all of it may have said why.
  auto reply = ReplyReader().read(*connection, socket_path_);
  if (!reply) return reply.error();
  if (!*reply) return no_answer();
  return std::move(**reply);
}

std::string url_escaped(std::string_view text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (char byte : text) {
    if (kPlain.find(byte) != std::string_view::npos) {
      out.push_back(byte);
      continue;
    }
    const auto value = static_cast<unsigned char>(byte);
    out.append({'%', kDigits[value >> 4], kDigits[value & 15]});
  }
  return out;
}

}  // namespace vitrine::tools
