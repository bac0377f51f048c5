// SPDX-License-Identifier: Apache-2.0
// Jobs in a row: what an engine keeps of each is bounded (case E20).
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tests/engine/container_bytes.h"
#include "tests/engine/real_inputs.h"
#include "tests/engine/segment_watch.h"
#include "tests/system/daemon_process.h"

namespace vitrine::system_test {
namespace {

// Fills every row of the status plane; the long one also its ring of events, whose pages are memory
// of the engine from their first use on, and what the job store keeps in memory.
constexpr unsigned kWarmUp = 540;
constexpr unsigned kLongWarmUp = 2000;
constexpr unsigned kJobs = 100;
constexpr unsigned kJobsASample = 20;
constexpr double kMostBytesAJob = 1024;
// What an allocator may take or give at any moment: it would show in a short run only.
constexpr double kAllowanceBytes = 512 * 1024;

unsigned jobs() {
  const char* asked = std::getenv("VITRINE_TEST_JOBS");
  return asked == nullptr ? kJobs : static_cast<unsigned>(std::atoi(asked));
}

double resident_bytes(pid_t process) {
  std::ifstream statm("/proc/" + std::to_string(process) + "/statm");
  double all = 0, resident = 0;
  statm >> all >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

std::ptrdiff_t descriptors(pid_t process) {
  const auto folder = "/proc/" + std::to_string(process) + "/fd";
  return std::distance(std::filesystem::directory_iterator(folder), {});
}

// Of the line that fits the samples best, in bytes a job.
double slope(const std::vector<double>& samples) {
  double mean_x = 0, mean_y = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    mean_x += static_cast<double>(i) / static_cast<double>(samples.size());
    mean_y += samples[i] / static_cast<double>(samples.size());
  }
  double above = 0, below = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double x = static_cast<double>(i) - mean_x;
    above += x * (samples[i] - mean_y);
    below += x * x;
  }
  return above / below / kJobsASample;
}

// As many jobs as VITRINE_TEST_JOBS says, after those that fill what has a bound.
TEST_CASE("jobs in a row let neither the memory nor the descriptors of an engine grow", "[E20]") {
  const auto folder = engine::testing::circuit_folder("bn128", "multiplier");
  const Site site;
  RunningDaemon daemon(site, {"--circuit", "multiplier=" + (folder / "circuit.zkey").string()});
  engine::testing::SegmentWatch watch(site.segment());
  const ApiClient client(site.socket());
  const std::string witness = engine::testing::read_file(folder / "witness.1.wtns");
  const auto prove = [&] {
    REQUIRE(client.post_form("/v1/prove?circuit=multiplier", {witness}).status == 200);
  };
  const unsigned warm_up = jobs() > kJobs ? kLongWarmUp : kWarmUp;
  for (unsigned job = 0; job < warm_up; ++job) prove();
  const auto descriptors_before = descriptors(daemon.pid());
  std::vector<double> samples = {resident_bytes(daemon.pid())};
  for (unsigned job = 1; job <= jobs(); ++job) {
    prove();
    if (job % kJobsASample == 0) samples.push_back(resident_bytes(daemon.pid()));
  }
  const double growth = samples.back() - samples.front();
  const double bytes_a_job = slope(samples);
  INFO(growth << " bytes more after " << jobs() << " jobs, slope " << bytes_a_job);
  if (jobs() > kJobs) {
    CHECK(bytes_a_job < kMostBytesAJob);
    WARN(jobs() << " jobs after " << warm_up << ": slope " << bytes_a_job << " bytes a job, growth "
                << growth << " of " << samples.front() << " bytes, descriptors "
                << descriptors_before << " and " << descriptors(daemon.pid()));
  } else {
    CHECK(growth < kMostBytesAJob * jobs() + kAllowanceBytes);
  }
  // Connections are closed by the server a moment after the client has seen their end.
  wait_until(daemon, [&] { return descriptors(daemon.pid()) <= descriptors_before; });
  for (const std::string& violation : watch.stop()) FAIL_CHECK(violation);
}

}  // namespace
}  // namespace vitrine::system_test
