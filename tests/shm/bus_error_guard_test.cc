// SPDX-License-Identifier: Apache-2.0
#include "shm/bus_error_guard.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <csetjmp>
#include <csignal>
#include <thread>

#include "shm/file_descriptor.h"
#include "shm/segment_reader.h"
#include "tests/shm/small_segment.h"

namespace vitrine::shm {
namespace {

// The handler that was there first, as some program's crash reporter would be.
sigjmp_buf reporter_resume;
const bool is_reporter_installed = [] {
  struct sigaction action {};
  action.sa_handler = [](int) { siglongjmp(reporter_resume, 1); };
  action.sa_flags = SA_NODEFER;
  return sigaction(SIGBUS, &action, nullptr) == 0;
}();

// A mapping of two pages whose file has lost the second.
struct CutMapping {
  SharedScratchFolder directory;
  std::span<const std::byte> bytes;

  CutMapping() {
    write_whole(directory / "x", std::string(8192, 'a'));
    const FileDescriptor file(::open((directory / "x").c_str(), O_RDWR | O_CLOEXEC));
    void* address = ::mmap(nullptr, 8192, PROT_READ, MAP_SHARED, file.number(), 0);
    REQUIRE(address != MAP_FAILED);
    bytes = {static_cast<const std::byte*>(address), 8192};
    REQUIRE(::ftruncate(file.number(), 4096) == 0);
  }
  ~CutMapping() { ::munmap(const_cast<std::byte*>(bytes.data()), bytes.size()); }
};

std::byte load(const std::byte& byte) { return *static_cast<const volatile std::byte*>(&byte); }

}  // namespace

TEST_CASE("A load from a lost page is an error, again and again, and on any thread") {
  const CutMapping mapping;
  const auto touch = [&](std::size_t at) {
    return guarded(mapping.bytes, [&] { load(mapping.bytes[at]); });
  };
  for (int i = 0; i < 3; ++i) {
    CHECK(touch(100));
    CHECK_FALSE(touch(5000));
  }
  bool is_caught = false;
  std::thread([&] { is_caught = !touch(5000); }).join();
  CHECK(is_caught);
}

TEST_CASE("A guard within a guard leaves the outer one in force") {
  const CutMapping mapping;
  bool inner = true;
  const bool outer = guarded(mapping.bytes, [&] {
    inner = guarded(mapping.bytes, [&] { load(mapping.bytes[5000]); });
    load(mapping.bytes[6000]);
  });
  CHECK_FALSE(inner);
  CHECK_FALSE(outer);
}

TEST_CASE("A fault outside every guard reaches the handler that was there before") {
  REQUIRE(is_reporter_installed);
  const CutMapping mapping;
  const CutMapping other;
  REQUIRE(guarded(mapping.bytes, [] {}));
  volatile int reports = 0;
  if (sigsetjmp(reporter_resume, 1) == 0) {
    load(mapping.bytes[5000]);
  } else {
    reports = reports + 1;
  }
  CHECK(reports == 1);
}

TEST_CASE("A segment that is cut short under its reader is corrupt, and the last state stays") {
  SharedScratchFolder directory;
  const auto path = directory / "main.segment";
  SegmentWriter writer = publish(small_segment(path));
  writer.begin().edit<EngineRecord>().workers = 3;
  auto reader = SegmentReader::attach(path);
  REQUIRE(reader.has_value());
  Snapshot snapshot;
  REQUIRE(reader->snapshot(snapshot).has_value());

  REQUIRE(::truncate(path.c_str(), 4096) == 0);
  const auto cut = reader->snapshot(snapshot);
  REQUIRE_FALSE(cut.has_value());
  CHECK(cut.error().kind == ErrorKind::kCorrupt);
  CHECK(snapshot.engine().workers == 3);
  CHECK_FALSE(reader->events_after(0, 10).has_value());
  REQUIRE(::truncate(path.c_str(), 0) == 0);
  CHECK(reader->commit() == 0);
  CHECK(SegmentReader::attach(path).error().kind == ErrorKind::kCorrupt);
}

}  // namespace vitrine::shm
