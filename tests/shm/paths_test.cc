// SPDX-License-Identifier: Apache-2.0
#include "shm/paths.h"

#include <cstdlib>

#include "shm/discovery.h"
#include "tests/shm/small_segment.h"

namespace vitrine::shm {
namespace {

// Sets or removes a variable for one test.
class EnvironmentValue {
 public:
  EnvironmentValue(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
  }
  EnvironmentValue(const EnvironmentValue&) = delete;
  EnvironmentValue& operator=(const EnvironmentValue&) = delete;
  ~EnvironmentValue() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

const std::string kIncarnation = "00112233445566778899aabbccddeeff";

}  // namespace

TEST_CASE("An instance name holds 1 to 32 lower-case letters, digits, dashes and underscores") {
  CHECK(is_instance_name("main"));
  CHECK(is_instance_name("prove-123_a"));
  CHECK(is_instance_name(std::string(32, 'a')));
  for (const char* name :
       {"", "Main", "a.b", "../x", "a/b", "a b", "\xC3\xA9", "-", "-a", "--help"}) {
    CAPTURE(name);
    CHECK_FALSE(is_instance_name(name));
  }
  CHECK_FALSE(is_instance_name(std::string(33, 'a')));
}

TEST_CASE("Shared memory and service directories have their own names for an instance") {
  CHECK(segment_path_in("/dev/shm", "main") == "/dev/shm/vitrine.main");
  CHECK(segment_path_in("/run/vitrine", "main") == "/run/vitrine/main.segment");
  CHECK(lock_path_of("/dev/shm/vitrine.main") == "/dev/shm/vitrine.main.lock");
  CHECK(lock_path_of("/run/vitrine/main.segment") == "/run/vitrine/main.lock");
  CHECK(lock_path_of("/run/vitrine/main.sock") == "/run/vitrine/main.lock");
  CHECK(dead_path_of("/dev/shm/vitrine.main", kIncarnation) ==
        "/dev/shm/vitrine.main." + kIncarnation + ".dead");
}

TEST_CASE("An engine publishes in shared memory unless it is a service that owns /run/vitrine") {
  EnvironmentValue unset("RUNTIME_DIRECTORY", nullptr);
  CHECK(default_segment_path("main") == "/dev/shm/vitrine.main");
  EnvironmentValue service("RUNTIME_DIRECTORY", "/run/other:/run/vitrine");
  CHECK(default_segment_path("main") == "/run/vitrine/main.segment");
  CHECK(default_socket_path("main") == "/run/other/main.sock");
}

TEST_CASE("A session's engine listens in the session's runtime directory") {
  EnvironmentValue unset("RUNTIME_DIRECTORY", nullptr);
  EnvironmentValue session("XDG_RUNTIME_DIR", "/run/user/7");
  CHECK(default_socket_path("main") == "/run/user/7/vitrine/main.sock");
  CHECK(instance_lock_path("main") == "/run/user/7/vitrine/main.lock");
}

TEST_CASE("A path that is given goes before the environment, and that before the search") {
  SharedScratchFolder directory;
  const SegmentPlaces places{{directory.path()}};
  EnvironmentValue unset("VITRINE_SEGMENT", nullptr);

  const auto absent = find_segment("main", {}, places);
  REQUIRE_FALSE(absent.has_value());
  CHECK(absent.error().kind == ErrorKind::kAbsent);
  CHECK_THAT(absent.error().text, Catch::Contains((directory / "main.segment").string()));

  write_whole(directory / "main.segment", "x");
  CHECK(find_segment("main", {}, places).value() == directory / "main.segment");
  write_whole(directory / "other", "x");
  EnvironmentValue set("VITRINE_SEGMENT", (directory / "other").c_str());
  CHECK(find_segment("main", {}, places).value() == directory / "other");
  CHECK(find_segment("main", directory / "main.segment", places).value() ==
        directory / "main.segment");
}

TEST_CASE("A segment that was named is missed by its path, not by an instance") {
  const auto absent = find_segment("main", std::filesystem::path("/nonexistent/x"));
  REQUIRE_FALSE(absent.has_value());
  CHECK(absent.error().kind == ErrorKind::kAbsent);
  CHECK(absent.error().text == "/nonexistent/x: no such segment");
}

TEST_CASE("Every segment of a place is listed, live names before dead ones, and nothing else") {
  SharedScratchFolder directory;
  for (const char* name : {"b.segment", "a.segment", "a.lock", "A.segment", "a.b.segment", "notes",
                           ".segment", "a.00.dead"}) {
    write_whole(directory / name, "");
  }
  write_whole(directory / ("a." + kIncarnation + ".dead"), "");
  write_whole(directory / ("vitrine.c." + kIncarnation + ".dead"), "");
  const auto found = list_segments({{directory.path(), directory / "missing"}});
  REQUIRE(found.size() == 4);
  CHECK(found[0].path == directory / "a.segment");
  CHECK_FALSE(found[0].named_dead);
  CHECK(found[1].instance == "b");
  CHECK(found[2].instance == "a");
  CHECK(found[2].named_dead);
  CHECK(found[3].instance == "c");
}

}  // namespace vitrine::shm
