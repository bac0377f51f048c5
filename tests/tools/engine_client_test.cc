// SPDX-License-Identifier: Apache-2.0
// Engines that answer badly or not at all, by real sockets.
#include "tools/engine_client.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <fstream>
#include <thread>

#include "shm/file_descriptor.h"
#include "tests/scratch_folder.h"

using namespace vitrine;
using namespace vitrine::tools;

namespace {

// Takes connections, as the kernel does for a process that is stopped, and never answers.
class SilentSocket {
 public:
  SilentSocket() : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path().string().copy(address.sun_path, sizeof(address.sun_path) - 1);
    REQUIRE(::bind(socket_.number(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
    REQUIRE(::listen(socket_.number(), 8) == 0);
  }
  std::filesystem::path path() const { return scratch_ / "s.sock"; }
  int number() const { return socket_.number(); }
  std::filesystem::path witness(const std::string& bytes = "witness",
                                const std::string& name = "w.wtns") const {
    std::ofstream(scratch_ / name) << bytes;
    return scratch_ / name;
  }

 private:
  ScratchFolder scratch_;
  shm::FileDescriptor socket_;
};

// Takes one request until it ends so, or is over; answers; hangs up.
class ScriptedEngine {
 public:
  ScriptedEngine(const SilentSocket& socket, std::string request_end, std::string answer)
      : thread_([this, &socket, end = std::move(request_end), answer = std::move(answer)] {
          const shm::FileDescriptor client(::accept(socket.number(), nullptr, nullptr));
          std::array<char, 4096> piece;
          while (!request_.ends_with(end)) {
            const ssize_t count = ::recv(client.number(), piece.data(), piece.size(), 0);
            if (count <= 0) break;
            request_.append(piece.data(), static_cast<std::size_t>(count));
          }
          ::send(client.number(), answer.data(), answer.size(), MSG_NOSIGNAL);
        }) {}
  // What it was sent.
  const std::string& request() {
    thread_.join();
    return request_;
  }

 private:
  std::string request_;
  std::thread thread_;
};

Error error_of(const std::filesystem::path& socket, const EngineRequest& request) {
  const Result<EngineReply> reply = EngineClient(socket).send(request);
  return reply ? Error{ExitCode::kOk, "an answer"} : reply.error();
}

}  // namespace

TEST_CASE("an engine that stands still is given up: 7", "[client]") {
  const SilentSocket silent;
  EngineRequest request;
  request.target = "/v1/jobs";
  request.answer_within_ns = 100'000'000;
  SECTION("asked") {}
  SECTION("given a witness") {
    request.method = "POST";
    request.files = {silent.witness()};
  }
  const Error error = error_of(silent.path(), request);
  CHECK(error.code == ExitCode::kTimeout);
  CHECK(error.text == "the engine at " + silent.path().string() + " did not answer in time");
}

TEST_CASE("a socket that is not for this user is said to be one: 3", "[client]") {
  const SilentSocket silent;
  ::chmod(silent.path().c_str(), 0);
  const pid_t child = fork();
  if (child == 0) {
    // Root may open anything, so the child is nobody; its folder is closed to it too.
    if (geteuid() == 0 && setuid(65'534) != 0) _exit(2);
    const Error error = error_of(silent.path(), EngineRequest{});
    const bool is_named = error.text.find("not for you: Permission denied") != std::string::npos;
    _exit(error.code == ExitCode::kNoEngine && is_named ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("a socket that nobody listens at names the reason: 3", "[client]") {
  const ScratchFolder scratch;
  const Error error = error_of(scratch / "none.sock", EngineRequest{});
  CHECK(error.code == ExitCode::kNoEngine);
  CHECK(error.text.find("No such file or directory") != std::string::npos);
}

TEST_CASE("a form arrives whole, as large as it was announced", "[client]") {
  const SilentSocket socket;
  EngineRequest request;
  request.method = "POST";
  request.target = "/v1/jobs?circuit=demo";
  const std::string large(300'000, 'w');
  request.files = {socket.witness(large), socket.witness("", "a \"b\"\n.wtns")};
  ScriptedEngine engine(socket, "--\r\n", "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}");
  const Result<EngineReply> reply = EngineClient(socket.path()).send(request);
  const std::string sent = engine.request();
  REQUIRE(reply.has_value());
  CHECK(reply->status == 201);
  CHECK(reply->body == "{}");
  const std::size_t body = sent.find("\r\n\r\n") + 4;
  CHECK(sent.find("Content-Length: " + std::to_string(sent.size() - body) + "\r\n") < body);
  CHECK(sent.find("filename=\"w.wtns\"\r\n") != std::string::npos);
  CHECK(sent.find("filename=\"a \\\"b\\\"?.wtns\"\r\n") != std::string::npos);
  CHECK(sent.find("\r\n\r\n" + large + "\r\n--") != std::string::npos);
}

TEST_CASE("an answer before the upload's end is heard", "[client]") {
  const SilentSocket socket;
  EngineRequest request;
  request.method = "POST";
  request.files = {socket.witness(std::string(4'000'000, 'w'))};
  ScriptedEngine engine(socket, "", "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n");
  const Result<EngineReply> reply = EngineClient(socket.path()).send(request);
  engine.request();
  REQUIRE(reply.has_value());
  CHECK(reply->status == 413);
}

TEST_CASE("answers in pieces, and up to the connection's end, are read", "[client]") {
  const SilentSocket socket;
  const std::string head = "HTTP/1.1 200 OK\r\n";
  const auto answer = GENERATE_COPY(values<std::string>(
      {head + "Transfer-Encoding: chunked\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n",
       head + "\r\nonetwo"}));
  ScriptedEngine engine(socket, "\r\n\r\n", answer);
  const Result<EngineReply> reply = EngineClient(socket.path()).send(EngineRequest{});
  engine.request();
  REQUIRE(reply.has_value());
  CHECK(reply->body == "onetwo");
}

TEST_CASE("an engine that goes away amid its answer is not there: 3", "[client]") {
  const SilentSocket socket;
  const auto answer = GENERATE(
      values<std::string>({"", "HTTP/1.1 2", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"}));
  ScriptedEngine engine(socket, "\r\n\r\n", answer);
  const Error error = error_of(socket.path(), EngineRequest{});
  engine.request();
  CHECK(error.code == ExitCode::kNoEngine);
  CHECK(error.text == "the engine at " + socket.path().string() + " went away");
}

TEST_CASE("an engine that lives and closes the connection is busy, not away: 8", "[client]") {
  const SilentSocket socket;
  for (const bool is_alive : {true, false}) {
    ScriptedEngine engine(socket, "\r\n\r\n", "");
    const auto reply = EngineClient(socket.path(), [&] { return is_alive; }).send(EngineRequest{});
    engine.request();
    REQUIRE_FALSE(reply.has_value());
    CHECK(reply.error().code == (is_alive ? ExitCode::kRefused : ExitCode::kNoEngine));
    CHECK((reply.error().text.find(" lives, but closed") != std::string::npos) == is_alive);
  }
}

TEST_CASE("what is not HTTP, or longer than an answer may be, is refused: 1", "[client]") {
  const SilentSocket socket;
  const auto answer =
      GENERATE(values<std::string>({"220 mail.example ESMTP\r\n\r\n",
                                    "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"}));
  ScriptedEngine engine(socket, "\r\n\r\n", answer);
  const Error error = error_of(socket.path(), EngineRequest{});
  engine.request();
  CHECK(error.code == ExitCode::kFailed);
  CHECK(error.text.starts_with("talking to the engine at " + socket.path().string() + ": "));
}
