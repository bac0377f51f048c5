// SPDX-License-Identifier: Apache-2.0
// Which backend vitrined proves with, and what it says when that is not what was wanted (case E15).
#include <signal.h>
#include <sys/resource.h>

#include <boost/json.hpp>
#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <sstream>

#include "engine/backend_choice.h"
#include "tests/engine/container_bytes.h"
#include "tests/engine/real_inputs.h"
#include "tests/engine/segment_watch.h"
#include "tests/system/daemon_process.h"
#include "tests/tools/program_run.h"

namespace vitrine::system_test {
namespace {

using Catch::Matchers::Contains;
using shm::Backend;

struct Wanted {
  const char* word;
  Backend requested;
  bool falls_back;
};

// A GPU that is there and cannot be used is a fallback of `auto` as well.
std::vector<Wanted> wanted_backends() {
  const bool has_gpu = engine::probe_gpu() == engine::HostGpu::kPresent;
  return {{"cpu", Backend::kCpu, false},
          {"auto", Backend::kAuto, has_gpu},
          {"cuda", Backend::kCuda, true}};
}

TEST_CASE("the backend that was asked for, the one that works and a fallback are in the segment",
          "[E15]") {
  for (const Wanted& wanted : wanted_backends()) {
    INFO(wanted.word);
    const Site site;
    RunningDaemon daemon(site, {"--backend", wanted.word});
    engine::testing::SegmentWatch watch(site.segment());
    CHECK(final_state(site, submit(site, 1)) == "done");
    const auto seen = snapshot_when(daemon, site.segment(), [](const auto&) { return true; });
    CHECK(seen.engine().requested_backend == wanted.requested);
    CHECK(seen.engine().effective_backend == Backend::kCpu);
    CHECK(seen.engine().backend_fallbacks == (wanted.falls_back ? 1 : 0));
    CHECK((seen.life == shm::EngineLife::kDegraded) == wanted.falls_back);
    const std::string reason(seen.engine().degraded_reason.view());
    CHECK(reason.find("proving on the CPU") == (wanted.falls_back ? 0 : std::string::npos));
    const std::vector<std::string> check = {"check", "--segment", site.segment()};
    CHECK(tests::run_vitrine(check).exit_code == (wanted.falls_back ? 1 : 0));
    daemon.signal(SIGTERM);
    CHECK(daemon.exit_code() == 0);
    for (const std::string& violation : watch.stop()) FAIL_CHECK(violation);
  }
}

TEST_CASE("a GPU that is required and cannot be used ends the start with 4, whatever the backend",
          "[E15]") {
  for (const Wanted& wanted : wanted_backends()) {
    INFO(wanted.word);
    const Site site;
    const auto before = std::chrono::steady_clock::now();
    DaemonProcess daemon(site.arguments({"--backend", wanted.word, "--require-gpu"}),
                         site.scratch / "gpu.log");
    CHECK(daemon.exit_code() == 4);
    CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(2));
    CHECK_THAT(daemon.log(), Contains("a GPU is required: ") && Contains("CUDA"));
    CHECK_FALSE(std::filesystem::exists(site.segment()));
    CHECK_FALSE(std::filesystem::exists(site.socket()));
  }
}

// Bytes of address space that the process has in use.
rlim_t address_space(pid_t process) {
  std::ifstream statm("/proc/" + std::to_string(process) + "/statm");
  rlim_t pages = 0;
  statm >> pages;
  REQUIRE(pages > 0);
  return pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

void limit_address_space(pid_t process, rlim_t bytes) {
  const rlimit limit{bytes, RLIM_INFINITY};
  REQUIRE(::prlimit(process, RLIMIT_AS, &limit, nullptr) == 0);
}

TEST_CASE("what the backend cannot allocate fails its job as out of memory, and no other",
          "[E15]") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  WARN("not tested: a sanitizer needs the address space");
#else
  const Site site;
  const std::string folder = site.scratch / "large";
  const auto made = tests::run_program({VITRINE_BIN "/vitrine-genkey", "--circuit", "sha256",
                                        "--log2", "13", "--insecure", "--out", folder});
  INFO(made.error);
  REQUIRE(made.exit_code == 0);
  std::ofstream(site.scratch / "large.toml")
      << "[circuit.large]\nzkey = \"" << folder << "/circuit.zkey\"\ninsecure = true\n";
  // Whatever is large is asked of the kernel, which then says no.
  RunningDaemon daemon(site, {"--config", site.scratch / "large.toml", "--threads", "1"},
                       {"env", "MALLOC_ARENA_MAX=1", "MALLOC_MMAP_THRESHOLD_=65536"});
  engine::testing::SegmentWatch watch(site.segment());
  const ApiClient client(site.socket());
  const std::string witness = engine::testing::read_file(folder + "/witness.wtns");
  CHECK(final_state(site, submit(site, 1)) == "done");
  limit_address_space(daemon.pid(), address_space(daemon.pid()) + (rlim_t{1} << 20));
  const ApiAnswer failed = client.post_form("/v1/prove?circuit=large", {witness});
  limit_address_space(daemon.pid(), RLIM_INFINITY);
  INFO(failed.body);
  CHECK(failed.status == 500);
  const auto seen = snapshot_when(daemon, site.segment(), [](const auto&) { return true; });
  const auto& jobs = seen.rows<shm::JobRecord>();
  CHECK(std::ranges::count(jobs, shm::FailureClass::kOutOfMemory, &shm::JobRecord::failure_class) ==
        1);
  CHECK(seen.engine().backend_fallbacks == 0);
  CHECK(final_state(site, submit(site, 1)) == "done");
  CHECK(client.post_form("/v1/prove?circuit=large", {witness}).status == 200);
  daemon.signal(SIGTERM);
  CHECK(daemon.exit_code() == 0);
  for (const std::string& violation : watch.stop()) FAIL_CHECK(violation);
#endif
}

}  // namespace
}  // namespace vitrine::system_test
