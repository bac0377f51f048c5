// SPDX-License-Identifier: Apache-2.0
// vitrined killed while a command makes a witness: nothing of the command goes on, and the job
// does.
#include <signal.h>

#include <boost/json.hpp>
#include <catch2/catch.hpp>
#include <fstream>

#include "shm/invariants.h"
#include "tests/engine/container_bytes.h"
#include "tests/engine/witness_script.h"
#include "tests/system/daemon_process.h"

namespace vitrine::system_test {
namespace {

using engine::testing::copy_witness;
using engine::testing::read_file;
using engine::testing::WitnessScript;

// The circuit of the site makes its witnesses with the script.
std::filesystem::path configuration(const Site& site, const WitnessScript& script) {
  const std::filesystem::path file = site.scratch / "circuits.toml";
  std::ofstream(file) << "[circuit.demo]\nwitness_command = [\"" << script.path().string()
                      << "\", \"{input}\", \"{witness}\", \"" << script.folder().string()
                      << "\"]\n";
  return file;
}

std::string submit_input(const Site& site, const std::string& text) {
  const ApiAnswer answer =
      ApiClient(site.socket()).post_form("/v1/jobs?circuit=demo", {text}, "input");
  REQUIRE(answer.status == 202);
  return std::string(boost::json::parse(answer.body).at("job").as_string());
}

bool runs(const std::string& process) {
  std::ifstream file("/proc/" + process + "/stat");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  return !text.empty() && text.find(") Z ") == std::string::npos;
}

std::string line_in(const std::filesystem::path& file) {
  std::string line;
  std::ifstream stream(file);
  std::getline(stream, line);
  return stream.good() ? line : "";
}

std::size_t files_in_spool(const Site& site) {
  const std::filesystem::directory_iterator begin(site.spool());
  return static_cast<std::size_t>(std::distance(begin, std::filesystem::directory_iterator())) - 1;
}

TEST_CASE("a job whose engine is killed while its witness is made goes on at the next start",
          "[E9]") {
  const Site site;
  const WitnessScript script(
      "cp \"$1\" $3/seen; if [ ! -e $3/go ]; then echo $$ >$3/own; "
      "(trap '' TERM HUP; sleep 600) & echo $! >$3/child; wait; fi; " +
      copy_witness());
  const std::vector<std::string> more = {"--config", configuration(site, script)};
  std::string job, own, child;
  {
    RunningDaemon daemon(site, more);
    job = submit_input(site, "{\"secret\": 42}");
    wait_until(daemon, [&] {
      own = line_in(script.note("own"));
      child = line_in(script.note("child"));
      return !own.empty() && !child.empty();
    });
    const shm::Snapshot now = snapshot_when(daemon, site.segment(), [](const auto& snapshot) {
      return snapshot.template rows<shm::PartitionRecord>()[0].stage ==
             shm::PartitionStage::kWitnessing;
    });
    for (const std::string& violation : shm::check_invariants(now, nullptr)) FAIL_CHECK(violation);
    daemon.signal(SIGKILL);
    CHECK(daemon.exit_code() == 128 + SIGKILL);
  }
  std::filesystem::remove(script.note("seen"));
  std::ofstream(script.note("go"));
  RunningDaemon daemon(site, more);
  wait_until(daemon, [&] { return !runs(own) && !runs(child); });
  CHECK(final_state(site, job) == "done");
  CHECK(read_file(script.note("seen")) == "{\"secret\": 42}");
  wait_until(daemon, [&] { return files_in_spool(site) == 0; });
}

TEST_CASE("an engine that is asked to end twice does not wait for a command", "[E14]") {
  const Site site;
  const WitnessScript script("trap '' TERM INT; echo $$ >$3/own; sleep 600");
  RunningDaemon daemon(site, {"--config", configuration(site, script)});
  submit_input(site, "{}");
  std::string own;
  wait_until(daemon, [&] { return !(own = line_in(script.note("own"))).empty(); });
  daemon.signal(SIGTERM);
  snapshot_when(daemon, site.segment(),
                [](const auto& now) { return now.life == shm::EngineLife::kDraining; });
  daemon.signal(SIGTERM);
  CHECK(daemon.exit_code() == 0);
  CHECK_FALSE(runs(own));
  CHECK(files_in_spool(site) == 1);  // the input, for the next start
}

}  // namespace
}  // namespace vitrine::system_test
