// SPDX-License-Identifier: Apache-2.0
#include "tools/engine_client.h"

#include <curl/curl.h>

#include <boost/json/parse.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <utility>

#include "shm/clock.h"

namespace vitrine::tools {
namespace {

constexpr long kConnectWithinMs = 5'000;

struct CurlFree {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
  void operator()(curl_mime* form) const { curl_mime_free(form); }
};
using Handle = std::unique_ptr<CURL, CurlFree>;
using Form = std::unique_ptr<curl_mime, CurlFree>;

std::size_t append_body(char* bytes, std::size_t, std::size_t count, void* body) {
  auto& text = *static_cast<std::string*>(body);
  if (count > kReplyBytesMax - text.size()) return 0;  // ends the transfer: CURLE_WRITE_ERROR
  text.append(bytes, count);
  return count;
}

// Ends a transfer of which no byte has moved for too long, in either direction: the answer may be
// as late as the upload is long, but an engine that stands still does not answer at all.
class SilenceWatch {
 public:
  explicit SilenceWatch(std::uint64_t limit_ns)
      : limit_ns_(limit_ns), moved_at_ns_(shm::monotonic_ns()) {}

  // libcurl asks every second at least, and whenever bytes move.
  static int look(void* watch, curl_off_t, curl_off_t received, curl_off_t, curl_off_t sent) {
    return static_cast<SilenceWatch*>(watch)->is_over(received + sent) ? 1 : 0;
  }

 private:
  bool is_over(curl_off_t moved) {
    const std::uint64_t now_ns = shm::monotonic_ns();
    if (moved != std::exchange(moved_, moved)) moved_at_ns_ = now_ns;
    return now_ns - moved_at_ns_ >= limit_ns_;
  }

  std::uint64_t limit_ns_;
  std::uint64_t moved_at_ns_;
  curl_off_t moved_ = 0;
};

Result<void> check_readable(const std::filesystem::path& file) {
  std::error_code problem;
  if (!std::filesystem::is_regular_file(file, problem)) {
    return Error{ExitCode::kUsage,
                 file.string() + ": " + (problem ? problem.message() : "not a regular file")};
  }
  if (!std::ifstream(file).good()) return Error{ExitCode::kUsage, file.string() + ": not readable"};
  return {};
}

Result<Form> form_of(CURL* handle, const std::vector<std::filesystem::path>& files) {
  Form form(curl_mime_init(handle));
  for (const auto& file : files) {
    if (const Result<void> readable = check_readable(file); !readable) return readable.error();
    curl_mimepart* part = curl_mime_addpart(form.get());
    if (part == nullptr || curl_mime_name(part, "witness") != CURLE_OK ||
        curl_mime_filedata(part, file.c_str()) != CURLE_OK) {
      return Error{ExitCode::kUsage, file.string() + ": cannot be sent"};
    }
    curl_mime_type(part, "application/octet-stream");
  }
  return form;
}

Error connect_error(CURL* handle, const std::string& at) {
  long reason = 0;
  curl_easy_getinfo(handle, CURLINFO_OS_ERRNO, &reason);
  const std::string text = std::strerror(static_cast<int>(reason));
  if (reason == EACCES || reason == EPERM) {
    return {ExitCode::kNoEngine, "the engine's socket" + at + " is not for you: " + text};
  }
  return {ExitCode::kNoEngine, "no engine answers" + at + (reason == 0 ? "" : ": " + text)};
}

Error error_of(CURL* handle, CURLcode code, const std::filesystem::path& socket_path) {
  const std::string at = " at " + socket_path.string();
  switch (code) {
    case CURLE_COULDNT_CONNECT:
      return connect_error(handle, at);
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
      return {ExitCode::kNoEngine, "the engine" + at + " went away"};
    case CURLE_ABORTED_BY_CALLBACK:
    case CURLE_OPERATION_TIMEDOUT:
      return {ExitCode::kTimeout, "the engine" + at + " did not answer in time"};
    default:
      return {ExitCode::kFailed, "talking to the engine" + at + ": " + curl_easy_strerror(code)};
  }
}

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

EngineClient::EngineClient(std::filesystem::path socket_path)
    : socket_path_(std::move(socket_path)) {
  curl_global_init(CURL_GLOBAL_DEFAULT);
}

EngineClient::~EngineClient() { curl_global_cleanup(); }

Result<EngineReply> EngineClient::send(const EngineRequest& request) {
  const Handle handle(curl_easy_init());
  if (!handle) return Error{ExitCode::kFailed, "out of memory"};
  CURL* curl = handle.get();
  EngineReply reply;
  const std::string url = "http://vitrine" + request.target;
  SilenceWatch silence(request.answer_within_ns);
  curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, socket_path_.c_str());
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROXY, "");  // proxies of the environment are not for sockets
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http");
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, kConnectWithinMs);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, SilenceWatch::look);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &silence);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, append_body);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &reply.body);
  Result<Form> form = Form();
  if (!request.files.empty()) {
    form = form_of(curl, request.files);
    if (!form) return form.error();
    curl_easy_setopt(curl, CURLOPT_MIMEPOST, form->get());
  }
  const CURLcode code = curl_easy_perform(curl);
  if (code != CURLE_OK) return error_of(curl, code, socket_path_);
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &reply.status);
  return reply;
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
