// SPDX-License-Identifier: Apache-2.0
// An engine that does not answer, by real sockets.
#include "tools/engine_client.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

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
  std::filesystem::path witness() const {
    std::ofstream(scratch_ / "w.wtns") << "witness";
    return scratch_ / "w.wtns";
  }

 private:
  ScratchFolder scratch_;
  shm::FileDescriptor socket_;
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
