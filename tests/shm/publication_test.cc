// SPDX-License-Identifier: Apache-2.0
// Names, locks and predecessors: who may publish an instance, and what is left behind.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "shm/incarnation.h"
#include "shm/owner_lock_writer.h"
#include "shm/paths.h"
#include "shm/segment_reader.h"
#include "shm/segment_writer.h"
#include "tests/shm/small_segment.h"

namespace vitrine::shm {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_in(const SharedScratchFolder& scratch, std::string_view suffix) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(scratch.path())) {
    if (entry.path().string().ends_with(suffix)) found.push_back(entry.path());
  }
  return found;
}

// Runs `body` in a child and returns its exit status.
template <class Body>
int status_of_child(Body body) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) ::_exit(body());
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

TEST_CASE("a second engine of a live instance is refused and told the first's PID") {
  const SharedScratchFolder scratch;
  const auto options = small_segment(scratch / "test.segment");
  auto first = SegmentWriter::publish_named(options);
  REQUIRE(first.has_value());
  const auto second = SegmentWriter::publish_named(options);
  REQUIRE(second.has_error());
  CHECK(second.error().kind == ErrorKind::kInUse);
  CHECK(second.error().text.find("PID " + std::to_string(::getpid())) != std::string::npos);
  CHECK_FALSE(first->is_name_lost());
}

TEST_CASE("a killed engine's segment is kept, and a new engine starts at once") {
  const SharedScratchFolder scratch;
  const auto options = small_segment(scratch / "test.segment");
  for (int run = 0; run < 5; ++run) {
    CHECK(status_of_child([&] {
            auto writer = SegmentWriter::publish_named(options);
            if (!writer) return 1;
            ::kill(::getpid(), SIGKILL);
            return 2;
          }) == 128 + SIGKILL);
  }
  CHECK(fs::exists(options.path));
  CHECK(files_in(scratch, ".dead").size() == 3);  // of the four before it
}

TEST_CASE("engines that ended in order do not push a crash out") {
  const SharedScratchFolder scratch;
  const auto options = small_segment(scratch / "test.segment");
  fs::path crashed;
  for (int run = 0; run < 6; ++run) {
    auto writer = SegmentWriter::publish_named(options);
    REQUIRE(writer.has_value());
    if (run == 0) {
      crashed = dead_path_of(options.path, writer->incarnation());
    } else {
      writer->set_life(EngineLife::kClosed, 0);
    }
  }
  CHECK(files_in(scratch, ".dead").size() == 3);
  CHECK(fs::exists(crashed));
}

namespace {

// A dead segment as its engine would have left it; its incarnation's digits are all `digit`.
fs::path leave_dead_segment(const SegmentOptions& options, std::uint8_t digit,
                            std::uint64_t created_unix_ns) {
  Header header{};
  header.fixed.magic = kMagic;
  header.incarnation.fill(static_cast<std::uint8_t>(digit * 0x11));
  header.created_unix_ns = created_unix_ns;
  const fs::path path = dead_path_of(options.path, incarnation_text(header.incarnation));
  write_whole(path, {reinterpret_cast<const char*>(&header), sizeof(header)});
  return path;
}

}  // namespace

TEST_CASE("a start that died between two black boxes leaves none too many to the next") {
  const SharedScratchFolder scratch;
  const auto options = small_segment(scratch / "test.segment");
  // The later a segment was made, the earlier it was written: the header's time counts.
  std::vector<fs::path> dead;
  for (std::uint8_t number = 5; number > 0; --number) {
    dead.push_back(leave_dead_segment(options, number, number));
  }
  const auto writer = publish(options);  // there is no name to retire
  CHECK(files_in(scratch, ".dead").size() == 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(fs::exists(dead[i]));
}

TEST_CASE("files that are not what their names say neither push black boxes out nor go") {
  const SharedScratchFolder scratch;
  const auto options = small_segment(scratch / "test.segment");
  const fs::path black_box = leave_dead_segment(options, 1, 1);
  std::vector<fs::path> others;
  const auto name_of = [&](char digit) {
    return dead_path_of(options.path, std::string(32, digit));
  };
  for (const char digit : {'4', '5', '6', '7'}) {
    others.push_back(name_of(digit));
    write_whole(others.back(), "");
  }
  // One that has the bytes of another, one with two names, a link, a directory.
  others.push_back(name_of('8'));
  write_whole(others.back(), read_whole(black_box));
  others.push_back(leave_dead_segment(options, 9, 100));
  fs::create_hard_link(others.back(), scratch / "second name");
  others.push_back(name_of('a'));
  fs::create_symlink(black_box, others.back());
  others.push_back(name_of('b'));
  fs::create_directory(others.back());
  const auto writer = publish(options);
  CHECK(fs::exists(black_box));
  for (const fs::path& other : others) CHECK(fs::exists(fs::symlink_status(other)));
}

TEST_CASE("another user's dead segments do not push an engine's own black boxes out") {
  if (::geteuid() != 0) {
    WARN("not tested: only root can become another user");
    return;
  }
  const SharedScratchFolder scratch;
  const auto options = small_segment(scratch / "test.segment");
  const fs::path black_box = leave_dead_segment(options, 1, 1);
  for (std::uint8_t number = 2; number < 8; ++number) {
    const fs::path other = leave_dead_segment(options, number, 100);
    REQUIRE(::chown(other.c_str(), 65534, 65534) == 0);
  }
  const auto writer = publish(options);
  CHECK(fs::exists(black_box));
  CHECK(files_in(scratch, ".dead").size() == 7);
}

TEST_CASE("an empty file in the name's place goes, as there is nothing in it to keep") {
  const SharedScratchFolder scratch;
  const auto options = small_segment(scratch / "test.segment");
  write_whole(options.path, "");
  const auto writer = publish(options);
  CHECK(files_in(scratch, ".dead").empty());
}

TEST_CASE("no room for the segment is an error that leaves nothing behind") {
  const SharedScratchFolder scratch;
  const auto options = small_segment(scratch / "test.segment");
  CHECK(status_of_child([&] {
          // The kernel refuses to reserve more than this, as it does on a full file system.
          const rlimit limit{65536, 65536};
          ::signal(SIGXFSZ, SIG_IGN);
          ::setrlimit(RLIMIT_FSIZE, &limit);
          const auto writer = SegmentWriter::publish_named(options);
          return !writer && writer.error().kind == ErrorKind::kSystem ? 0 : 1;
        }) == 0);
  CHECK(files_in(scratch, ".segment").empty());
}

TEST_CASE("what stands in the name's place is refused, not replaced") {
  const SharedScratchFolder scratch;
  const auto options = small_segment(scratch / "test.segment");
  SECTION("a symbolic link") {
    fs::create_symlink(scratch / "elsewhere", options.path);
    const auto writer = SegmentWriter::publish_named(options);
    REQUIRE(writer.has_error());
    CHECK(writer.error().kind == ErrorKind::kUnreadable);
    CHECK(fs::is_symlink(options.path));
  }
  SECTION("a file that is not a segment") {
    std::ofstream(options.path) << "somebody's notes";
    const auto writer = SegmentWriter::publish_named(options);
    REQUIRE(writer.has_error());
    CHECK(writer.error().text.find(options.path.string()) != std::string::npos);
    CHECK(fs::file_size(options.path) == 16);
    CHECK(files_in(scratch, ".lock").empty());
  }
  SECTION("a directory") {
    fs::create_directory(options.path);
    CHECK(SegmentWriter::publish_named(options).has_error());
    CHECK(files_in(scratch, ".lock").empty());
  }
  SECTION("a file of somebody's in the lock's place") {
    std::ofstream(lock_path_of(options.path)) << std::string(100, 'x');
    CHECK(SegmentWriter::publish_named(options).error().kind == ErrorKind::kUnreadable);
    CHECK(read_whole(lock_path_of(options.path)) == std::string(100, 'x'));
  }
  SECTION("a link in the lock's place") {
    fs::create_symlink(scratch / "elsewhere", lock_path_of(options.path));
    CHECK(SegmentWriter::publish_named(options).has_error());
    CHECK_FALSE(fs::exists(scratch / "elsewhere"));
  }
}

TEST_CASE("what belongs to another user is refused, and its owner named") {
  if (::geteuid() != 0) {
    WARN("not tested: only root can become another user");
    return;
  }
  constexpr uid_t kOther = 65534;
  const SharedScratchFolder scratch;
  fs::permissions(scratch.path(), fs::perms::all | fs::perms::sticky_bit);
  const auto options = small_segment(scratch / "test.segment");
  const auto refusal_of_other = [&](const std::string& owner) {
    return status_of_child([&] {
      if (::setuid(kOther) != 0) return 2;
      const auto writer = SegmentWriter::publish_named(options);
      if (writer || writer.error().kind != ErrorKind::kInUse) return 1;
      return writer.error().text.find(owner) != std::string::npos ? 0 : 3;
    });
  };
  SECTION("a live segment that it cannot read") {
    const auto writer = publish(options);
    CHECK(refusal_of_other("uid 0") == 0);
  }
  SECTION("a live segment that it can read") {
    auto readable = options;
    readable.mode = 0644;
    const auto writer = publish(readable);
    CHECK(refusal_of_other("PID " + std::to_string(::getpid()) + ", uid 0") == 0);
  }
  SECTION("a live segment without its name") {
    const auto writer = publish(options);
    fs::remove(options.path);
    CHECK(refusal_of_other("uid 0") == 0);
  }
  SECTION("another user's, for root") {
    CHECK(status_of_child([&] {
            if (::setuid(kOther) != 0) return 2;
            return SegmentWriter::publish_named(options) ? 0 : 1;
          }) == 0);
    const auto writer = SegmentWriter::publish_named(options);
    REQUIRE(writer.has_error());
    CHECK(writer.error().kind == ErrorKind::kInUse);
    CHECK_THAT(writer.error().text, Catch::Contains("uid 65534"));
    fs::remove(options.path);
    CHECK(SegmentWriter::publish_named(options).error().kind == ErrorKind::kInUse);
  }
}

TEST_CASE("one lock file guards several things, each alone") {
  const SharedScratchFolder scratch;
  const fs::path file = scratch / "x.lock";
  const auto instance = OwnerLock::take(file, Owned::kInstance, "the instance");
  const auto socket = OwnerLock::take(file, Owned::kSocket, "the socket");
  REQUIRE((instance.has_value() && socket.has_value()));
  const auto again = OwnerLock::take(file, Owned::kSocket, "the socket");
  REQUIRE(again.has_error());
  CHECK_THAT(again.error().text,
             Catch::Contains("the socket") &&
                 Catch::Contains("PID " + std::to_string(::getpid()) + ", uid"));
  socket->remove_file();  // its other line is owned
  CHECK_FALSE(instance->is_name_lost());
}

TEST_CASE("of engines that start at the same moment exactly one gets the instance") {
  const SharedScratchFolder scratch;
  const auto options = small_segment(scratch / "test.segment");
  constexpr int kRounds = 300;
  constexpr int kStarters = 3;
  for (int round = 0; round < kRounds; ++round) {
    int gate[2];
    int report[2];
    REQUIRE(::pipe(gate) == 0);
    REQUIRE(::pipe(report) == 0);
    std::vector<pid_t> children;
    for (int i = 0; i < kStarters; ++i) {
      const pid_t child = ::fork();
      REQUIRE(child >= 0);
      if (child == 0) {
        ::close(gate[1]);
        char byte = 0;
        (void)!::read(gate[0], &byte, 1);  // released when the parent closes its end
        auto writer = SegmentWriter::publish_named(options);
        const char outcome = writer ? 'w' : writer.error().kind == ErrorKind::kInUse ? 'r' : 'e';
        (void)!::write(report[1], &outcome, 1);
        ::pause();
        ::_exit(0);
      }
      children.push_back(child);
    }
    ::close(gate[0]);
    ::close(gate[1]);
    std::string outcomes(kStarters, ' ');
    for (char& outcome : outcomes) REQUIRE(::read(report[0], &outcome, 1) == 1);
    std::sort(outcomes.begin(), outcomes.end());
    CHECK(outcomes == "rrw");
    for (const pid_t child : children) ::kill(child, SIGKILL);
    for (const pid_t child : children) ::waitpid(child, nullptr, 0);
    ::close(report[0]);
    ::close(report[1]);
  }
}

TEST_CASE("a removed name is noticed, and unlinking removes only one's own") {
  const SharedScratchFolder scratch;
  const auto options = small_segment(scratch / "test.segment");
  auto writer = SegmentWriter::publish_named(options);
  REQUIRE(writer.has_value());
  fs::remove(options.path);
  CHECK(writer->is_name_lost());
  std::ofstream(options.path) << "another's";
  writer->unlink_name();
  CHECK(fs::exists(options.path));
}

TEST_CASE("a writer goes on under its name when that was removed") {
  const SharedScratchFolder scratch;
  const auto options = small_segment(scratch / "test.segment");
  auto writer = publish(options);
  const std::string incarnation = writer.incarnation();
  const auto note = [&](std::uint32_t workers) {
    Transaction transaction = writer.begin();
    transaction.edit<EngineRecord>().workers = workers;
    transaction.append(Event{});
  };
  note(1);
  std::mutex state_mutex;
  for (const bool lock_too : {false, true}) {
    const auto old = SegmentReader::attach(options.path).value();
    fs::remove(options.path);
    if (lock_too) fs::remove(lock_path_of(options.path));
    REQUIRE(writer.publish_again(state_mutex).has_value());
    CHECK_FALSE(writer.is_name_lost());
    CHECK_FALSE(old.liveness().lock_held);
    note(lock_too ? 3 : 2);
    auto reader = SegmentReader::attach(options.path).value();
    Snapshot snapshot;
    REQUIRE(reader.snapshot(snapshot).has_value());
    CHECK(reader.liveness().lock_held);
    CHECK(snapshot.incarnation == incarnation);
    CHECK(snapshot.commit == (lock_too ? 3 : 2));
    CHECK(snapshot.engine().workers == snapshot.commit);
    CHECK(SegmentWriter::publish_named(options).error().kind == ErrorKind::kInUse);
  }
}

TEST_CASE("a name that another file has taken is not taken back") {
  const SharedScratchFolder scratch;
  const auto options = small_segment(scratch / "test.segment");
  auto writer = publish(options);
  auto reader = SegmentReader::attach(options.path).value();
  fs::remove(options.path);
  std::ofstream(options.path) << "another's";
  std::mutex state_mutex;
  CHECK(writer.publish_again(state_mutex).error().kind == ErrorKind::kUnreadable);
  CHECK(reader.liveness().lock_held);
  writer.begin().edit<EngineRecord>().workers = 7;
  Snapshot snapshot;
  REQUIRE(reader.snapshot(snapshot).has_value());
  CHECK(snapshot.engine().workers == 7);
  CHECK(read_whole(options.path) == "another's");
  fs::remove(options.path);
  CHECK(writer.publish_again(state_mutex).has_value());
}

}  // namespace vitrine::shm
