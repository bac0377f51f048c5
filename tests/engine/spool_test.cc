// SPDX-License-Identifier: Apache-2.0
#include "engine/spool.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/engine/container_bytes.h"
#include "tests/full_disk.h"
#include "tests/scratch_folder.h"

namespace vitrine::engine::testing {
namespace {

using Catch::Matchers::Contains;

unsigned mode_of(const std::filesystem::path& path) {
  struct stat found {};
  REQUIRE(::lstat(path.c_str(), &found) == 0);
  return found.st_mode & 07777;
}

std::size_t witnesses_in(const std::filesystem::path& folder) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files += entry.path().extension() == ".wtns";
  }
  return files;
}

WitnessFile stored(Spool& spool, const std::string& bytes) {
  auto file = spool.create();
  REQUIRE(file.has_value());
  REQUIRE((*file)->append(bytes).has_value());
  return SpoolFile::finish(std::move(*file));
}

TEST_CASE("a witness in the spool is private, and goes with its last holder") {
  const ScratchFolder scratch;
  auto spool = Spool::open(scratch / "spool", 1000);
  REQUIRE(spool.has_value());
  CHECK(mode_of(scratch / "spool") == 0700);
  {
    WitnessFile witness = stored(**spool, "secret");
    CHECK(mode_of(witness.path) == 0600);
    CHECK(read_file(witness.path) == "secret");
    CHECK((*spool)->used_bytes() == 6);
    const WitnessFile holder = witness;
    witness = {};
    CHECK(std::filesystem::exists(holder.path));
  }
  CHECK(witnesses_in(scratch / "spool") == 0);
  CHECK((*spool)->used_bytes() == 0);
}

TEST_CASE("a witness that was not finished leaves nothing behind") {
  const ScratchFolder scratch;
  auto spool = Spool::open(scratch / "spool", 1000);
  {
    auto file = (*spool)->create();
    REQUIRE((*file)->append(std::string("half")).has_value());
  }
  CHECK(witnesses_in(scratch / "spool") == 0);
}

TEST_CASE("a full spool refuses with the numbers and has room again later") {
  const ScratchFolder scratch;
  auto spool = Spool::open(scratch / "spool", 10);
  {
    const WitnessFile held = stored(**spool, "12345678");
    auto file = (*spool)->create();
    const auto refused = (*file)->append(std::string("123"));
    REQUIRE_FALSE(refused.has_value());
    CHECK_THAT(refused.error().text, Contains("10 bytes at most"));
  }
  stored(**spool, "1234567890");
}

TEST_CASE("a spool tells that its disk is full once, and once that it is not any more") {
  const ScratchFolder scratch;
  const SmallDisk disk(scratch.path());
  if (!disk.is_there()) {
    WARN("not tested: only root may mount a file system");
    return;
  }
  auto spool = Spool::open(scratch / "spool", std::uint64_t{1} << 30).value();
  std::vector<std::string> told;
  spool->listen([&] { told.push_back(spool->fault()); });
  stored(*spool, "secret");
  CHECK(told.empty());
  disk.fill();
  for (int i = 0; i < 3; ++i) {
    const auto file = spool->create().value();
    const auto refused = file->append(std::string(8192, 'x'));
    REQUIRE(refused.has_error());
    CHECK(refused.error().text == "the spool: No space left on device");
  }
  CHECK(told == std::vector<std::string>{"the spool: No space left on device"});
  disk.make_room();
  stored(*spool, "secret");
  CHECK(told.size() == 2);
  CHECK(spool->fault().empty());
}

TEST_CASE("a spool that is full by its limit has a good disk") {
  const ScratchFolder scratch;
  auto spool = Spool::open(scratch / "spool", 4).value();
  CHECK(spool->create().value()->append(std::string("12345")).has_error());
  CHECK(spool->fault().empty());
}

TEST_CASE("what a dead engine left in the spool is taken back by name and size, or removed") {
  const ScratchFolder scratch;
  std::filesystem::create_directory(scratch / "spool");
  for (const char* name : {"5.wtns", "7.wtns", "8.wtns"}) {
    std::ofstream(scratch / "spool" / name) << "secret";
  }
  std::filesystem::create_symlink("8.wtns", scratch / "spool/9.wtns");
  {
    auto spool = Spool::open(scratch / "spool", 100).value();
    {
      const WitnessFile witness = spool->take_back("7.wtns", 6).value();
      CHECK(spool->used_bytes() == 6);
    }
    CHECK(spool->take_back("5.wtns", 5).has_error());
    for (const char* name : {"6.wtns", "9.wtns", "../spool/5.wtns", "x.wtns", "lock", ""}) {
      CHECK(spool->take_back(name, 6).has_error());
    }
    spool->remove_orphans();
    CHECK(witnesses_in(scratch / "spool") == 1);
    CHECK(read_file(scratch / "spool/7.wtns") == "secret");
    CHECK(stored(*spool, "more").path.filename() == "10.wtns");
  }
  auto spool = Spool::open(scratch / "spool", 100).value();
  const WitnessFile witness = spool->take_back("7.wtns", 6).value();
  witness.copy->end_as(WitnessCopy::End::kRemoved);
  spool->remove_orphans();
  CHECK(std::filesystem::exists(witness.path));
}

TEST_CASE("a spool that a live engine has is refused, and loses nothing") {
  const ScratchFolder scratch;
  auto first = Spool::open(scratch / "spool", 100);
  const WitnessFile witness = stored(**first, "secret");
  const auto second = Spool::open(scratch / "spool", 100);
  REQUIRE(second.has_error());
  CHECK(second.error().kind == StartFailure::Kind::kInUse);
  CHECK_THAT(second.error().text, Contains((scratch / "spool").string()) &&
                                      Contains("PID " + std::to_string(::getpid())));
  CHECK(std::filesystem::exists(witness.path));
}

TEST_CASE("a witness that is to be kept outlives its holders") {
  const ScratchFolder scratch;
  const auto spool = Spool::open(scratch / "spool", 100).value();
  std::filesystem::path path;
  {
    const WitnessFile witness = stored(*spool, "secret");
    CHECK(make_durable(std::span(&witness, 1)).has_value());
    witness.copy->end_as(WitnessCopy::End::kKept);
    path = witness.path;
  }
  CHECK(read_file(path) == "secret");
  const WitnessFile gone{path, std::make_shared<SpoolFile>(*spool, path, shm::FileDescriptor())};
  std::filesystem::remove(path);
  CHECK(make_durable(std::span(&gone, 1)).has_error());
}

TEST_CASE("a spool that is a link or a file is refused") {
  const ScratchFolder scratch;
  std::filesystem::create_directory_symlink(scratch.path(), scratch / "link");
  CHECK_FALSE(Spool::open(scratch / "link", 10).has_value());
  std::ofstream(scratch / "file") << "";
  CHECK_FALSE(Spool::open(scratch / "file", 10).has_value());
}

}  // namespace
}  // namespace vitrine::engine::testing
