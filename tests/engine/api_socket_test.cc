// SPDX-License-Identifier: Apache-2.0
#include "engine/api_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>

#include "shm/paths.h"
#include "tests/scratch_folder.h"

namespace vitrine::engine::testing {
namespace {

using Catch::Matchers::Contains;
using Kind = StartFailure::Kind;

// A socket at `path` that belongs to no engine.
shm::FileDescriptor bound_socket(const std::filesystem::path& path) {
  shm::FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  REQUIRE(::bind(socket.number(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  return socket;
}

shm::FileDescriptor client_of(const std::filesystem::path& path) {
  shm::FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  (void)::connect(socket.number(), reinterpret_cast<sockaddr*>(&address), sizeof(address));
  return socket;
}

StartFailure failure_at(const std::filesystem::path& path, const std::string& group = "") {
  auto listening = ApiSocket::listen(path, group);
  REQUIRE(listening.has_error());
  return listening.error();
}

ino_t inode_of(const std::filesystem::path& path) {
  struct stat found {};
  REQUIRE(::lstat(path.c_str(), &found) == 0);
  return found.st_ino;
}

TEST_CASE("the socket is its user's and group's, and gone at the end") {
  const ScratchFolder scratch;
  const auto path = scratch / "a.sock";
  {
    const ApiSocket socket = ApiSocket::listen(path, "").value();
    struct stat found {};
    REQUIRE(::lstat(path.c_str(), &found) == 0);
    CHECK((found.st_mode & 07777) == 0660);
  }
  CHECK_FALSE(std::filesystem::exists(path));
  CHECK(ApiSocket::listen(path, "").has_value());
}

TEST_CASE("a socket on which nobody listens is replaced") {
  const ScratchFolder scratch;
  const auto path = scratch / "a.sock";
  { const auto leftover = bound_socket(path); }
  REQUIRE(std::filesystem::exists(path));
  CHECK(ApiSocket::listen(path, "").has_value());
}

TEST_CASE("a socket on which somebody listens is not replaced, and the listener named") {
  const ScratchFolder scratch;
  const auto path = scratch / "a.sock";
  const std::string owner = "PID " + std::to_string(::getpid());
  SECTION("an engine") {
    const ApiSocket first = ApiSocket::listen(path, "").value();
    const ino_t inode = inode_of(path);
    for (const bool lock_too : {false, true}) {
      if (lock_too) std::filesystem::remove(shm::lock_path_of(path));
      const StartFailure failure = failure_at(path);
      CHECK(failure.kind == Kind::kInUse);
      CHECK_THAT(failure.text, Contains(path.string()) && Contains(owner));
      CHECK(inode_of(path) == inode);
    }
  }
  SECTION("another program, which has no time to answer") {
    const auto socket = bound_socket(path);
    REQUIRE(::listen(socket.number(), 0) == 0);
    const auto waiting = client_of(path);
    const auto also_waiting = client_of(path);
    const StartFailure failure = failure_at(path);
    CHECK(failure.kind == Kind::kInUse);
    CHECK_THAT(failure.text, Contains(path.string()));
    CHECK(std::filesystem::exists(path));
  }
}

TEST_CASE("a socket's name that another has taken stays at the end") {
  const ScratchFolder scratch;
  const auto path = scratch / "a.sock";
  std::optional<ApiSocket> socket(ApiSocket::listen(path, "").value());
  std::filesystem::remove(path);
  const auto another = bound_socket(path);
  socket.reset();
  CHECK(std::filesystem::exists(path));
}

TEST_CASE("a path or group that cannot be is refused with the reason") {
  const ScratchFolder scratch;
  std::ofstream(scratch / "file") << "something else";
  for (const auto& [path, rule] : {std::pair{scratch / "file", "is not a socket"},
                                   {scratch.path(), "is not a socket"},
                                   {scratch / "file/a.sock", "is not a folder"},
                                   {scratch / "none/none/a.sock", "cannot be made"},
                                   {scratch / std::string(200, 'x'), "longer than 107 bytes"}}) {
    const StartFailure failure = failure_at(path);
    CHECK(failure.kind == Kind::kUsage);
    CHECK_THAT(failure.text, Contains(rule));
  }
  CHECK_THAT(failure_at(scratch / "b.sock", "no-such-group").text, Contains("no-such-group"));
  CHECK(std::filesystem::file_size(scratch / "file") == 14);
}

}  // namespace
}  // namespace vitrine::engine::testing
