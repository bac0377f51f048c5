// SPDX-License-Identifier: Apache-2.0
#include "engine/host_memory.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/scratch_folder.h"

namespace vitrine::engine::testing {
namespace {

// A root folder with /proc and /sys as a test wants them.
class Host {
 public:
  Host() { write("proc/meminfo", "MemFree: 1 kB\nMemTotal:       1000 kB\n"); }

  void write(const std::string& name, const std::string& text) {
    const auto path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  std::uint64_t limit_bytes() const { return memory_limit_bytes(folder_.path()); }

 private:
  ScratchFolder folder_;
};

TEST_CASE("without control groups the limit is the host's memory") {
  CHECK(Host().limit_bytes() == 1000 * 1024);
}

TEST_CASE("the tightest limit of the groups around the process counts") {
  Host host;
  host.write("proc/self/cgroup", "0::/machine/pod/engine\n");
  host.write("sys/fs/cgroup/machine/pod/engine/memory.max", "max\n");
  CHECK(host.limit_bytes() == 1000 * 1024);
  host.write("sys/fs/cgroup/machine/pod/memory.max", "500000\n");
  CHECK(host.limit_bytes() == 500000);
  host.write("sys/fs/cgroup/machine/pod/engine/memory.max", "400000\n");
  CHECK(host.limit_bytes() == 400000);
}

TEST_CASE("the limit of the root of a container's group counts") {
  Host host;
  host.write("proc/self/cgroup", "0::/\n");
  host.write("sys/fs/cgroup/memory.max", "300000\n");
  CHECK(host.limit_bytes() == 300000);
}

TEST_CASE("the first version of control groups is understood") {
  Host host;
  host.write("proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/docker/x\n");
  host.write("sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes", "200000\n");
  CHECK(host.limit_bytes() == 200000);
}

TEST_CASE("this process is resident") { CHECK(resident_bytes() > 100'000); }

}  // namespace
}  // namespace vitrine::engine::testing
