// SPDX-License-Identifier: Apache-2.0
// The disk of the spool has no room while the engine runs.
#include <catch2/catch.hpp>

#include "tests/engine/container_bytes.h"
#include "tests/engine/real_inputs.h"
#include "tests/full_disk.h"
#include "tests/system/daemon_process.h"

namespace vitrine::system_test {
namespace {

using Catch::Matchers::Contains;

constexpr const char* kReason = "the spool: No space left on device";

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

ApiAnswer submit_witness(const Site& site) {
  const auto witness = engine::testing::circuit_folder("bn128", "demo") / "witness.1.wtns";
  return ApiClient(site.socket())
      .post_form("/v1/jobs?circuit=demo", {engine::testing::read_file(witness)});
}

void await_reason(RunningDaemon& daemon, const Site& site, bool is_there) {
  snapshot_when(daemon, site.segment(), [&](const auto& now) {
    const std::string reasons(now.engine().degraded_reason.view());
    const bool is_named = reasons.find(kReason) != std::string::npos;
    return (is_named || reasons.ends_with("; and 1 more")) == is_there;  // what there is room for
  });
}

// `more`: flags of the engine.
void check_full_disk(const std::vector<std::string>& more, shm::EngineLife life_otherwise) {
  const Site site;
  std::filesystem::create_directory(site.scratch / "disk");
  const SmallDisk disk(site.scratch / "disk");
  if (!disk.is_there()) {
    WARN("not tested: only root may mount a file system");
    return;
  }
  std::vector<std::string> flags = {"--spool-directory", site.scratch / "disk/spool"};
  flags.insert(flags.end(), more.begin(), more.end());
  RunningDaemon daemon(site, flags);
  disk.fill();
  for (int i = 0; i < 3; ++i) {
    const ApiAnswer refused = submit_witness(site);
    CHECK(refused.status == 507);
    CHECK_THAT(refused.body, Contains(kReason));
  }
  await_reason(daemon, site, true);
  CHECK(count(daemon.log(), kReason) == 1);
  disk.make_room();
  CHECK(submit_witness(site).status == 202);
  await_reason(daemon, site, false);
  snapshot_when(daemon, site.segment(),
                [&](const auto& now) { return now.life == life_otherwise; });
  wait_until(daemon, [&] { return count(daemon.log(), kReason) == 2; });
  CHECK_THAT(daemon.log(), Contains(std::string("no longer degraded: ") + kReason));
}

TEST_CASE("an engine whose spool has no room is degraded, says so once, and gets well") {
  check_full_disk({}, shm::EngineLife::kReady);
}

TEST_CASE("an engine that is degraded already says so of its spool too") {
  check_full_disk({"--circuit", "none=/nowhere/none.zkey"}, shm::EngineLife::kDegraded);
}

}  // namespace
}  // namespace vitrine::system_test
