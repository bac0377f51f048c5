// SPDX-License-Identifier: Apache-2.0
#include "tools/report.h"

#include <sys/stat.h>

#include <boost/json/parse.hpp>
#include <catch2/catch.hpp>
#include <fstream>

#include "tests/scratch_folder.h"
#include "tests/tools/program_run.h"
#include "tests/tools/test_engine.h"
#include "tools/program_output.h"
#include "tools/redaction.h"

using namespace vitrine;
using namespace vitrine::tools;
using namespace vitrine::tests;
using Catch::Matchers::Contains;

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

// Unpacks into `folder`; the names of the files, one a line.
std::string unpack(const std::filesystem::path& archive, const std::filesystem::path& folder) {
  return run_program(
             {"/bin/tar", "--strip-components=1", "-xzvf", archive.string(), "-C", folder.string()})
      .output;
}

}  // namespace

TEST_CASE("a report of a living engine has its state, checks, versions and configuration",
          "[report]") {
  const SharedScratchFolder shared;
  const ScratchFolder scratch;
  shm::SegmentWriter writer = publish_engine(shared.path(), "e");
  append_events(writer, 3);
  const std::string path = shm::segment_path_in(shared.path(), "e");
  const ProgramRun run = run_vitrine({"report", "--out", scratch / "r.tar.gz", "--segment", path});
  INFO(run.output << run.error);
  REQUIRE(run.exit_code == 0);
  struct stat made {};
  REQUIRE(::stat((scratch / "r.tar.gz").c_str(), &made) == 0);
  CHECK((made.st_mode & 0777) == 0600);
  const std::string names = unpack(scratch / "r.tar.gz", scratch.path());
  for (const std::string name : {"snapshot.json", "show.txt", "events.jsonl", "segment",
                                 "versions.txt", "doctor.txt", "configuration.toml"}) {
    CHECK_THAT(names, Contains("/" + name + "\n"));
  }
  CHECK(names.starts_with("vitrine-report-e-2"));
  CHECK(run_vitrine({"show", "--file", scratch / "segment"}).exit_code == 4);
  CHECK(run_vitrine({"events", "--file", scratch / "segment"}).output.find("gpu_start") !=
        std::string::npos);
}

TEST_CASE("a report is written of what there is when there is no engine: 3", "[report]") {
  const ScratchFolder scratch;
  const ProgramRun run = run_vitrine(
      {"report", "--json", "--out", scratch / "r.tar.gz", "--instance", "no-such-instance"});
  INFO(run.output << run.error);
  CHECK(run.exit_code == 3);
  CHECK_THAT(run.error, Contains("not in it: segment: no engine 'no-such-instance'"));
  CHECK(boost::json::parse(run.output).at("missing").as_array().size() >= 1);
  const std::string names = unpack(scratch / "r.tar.gz", scratch.path());
  CHECK_THAT(names, Contains("/doctor.txt\n"));
  CHECK_THAT(names, Contains("/missing.txt\n"));
}

TEST_CASE("a report that cannot be written says so", "[report]") {
  const ScratchFolder scratch;
  const ProgramRun folder = run_vitrine({"report", "--out", scratch.path()});
  CHECK(folder.exit_code == 2);
  CHECK(folder.error_is_one_line());
  CHECK(run_vitrine({"report"}).exit_code == 2);
  const ProgramRun nowhere = run_vitrine({"report", "--out", scratch / "none/r.tar.gz"});
  CHECK(nowhere.exit_code == 1);
  CHECK_THAT(nowhere.error, Contains("none/r.tar.gz"));
}

TEST_CASE("secrets are taken out of a text, the rest stays", "[report]") {
  CHECK(redacted("zkey = \"/x/y.zkey\"\n") == "zkey = \"/x/y.zkey\"\n");
  CHECK(redacted("api_token = \"abc\"  # file\nx = 1") == "api_token = (removed)\nx = 1");
  CHECK(redacted("{\"password\": \"abc\", \"x\": 1}") == "{\"password\": (removed)");
  CHECK(redacted("Authorization: Bearer abc") == "Authorization: (removed)");
  CHECK(redacted("DB_PASSWORD_FILE=/a") == "DB_PASSWORD_FILE= (removed)");
  CHECK(redacted("url = \"https://me:pw@host/x\"") == "url = \"https://(removed)@host/x\"");
  CHECK(redacted("no secret is here, tokenized") == "no secret is here, tokenized");
  CHECK(redacted("") == "");
}

TEST_CASE("another program's words are taken, and it is not waited for in vain", "[report]") {
  CHECK(output_of_program({"echo", "a b"}, 10 * kSecond, 100).value() == "a b\n");
  CHECK(output_of_program({"/bin/sh", "-c", "echo a; echo b >&2"}, 10 * kSecond, 100).value() ==
        "a\nb\n");
  CHECK(output_of_program({"yes"}, 10 * kSecond, 1000).value().size() == 1000);
  CHECK(!output_of_program({"sleep", "60"}, kSecond / 100, 100).has_value());
  CHECK(!output_of_program({"/nonexistent/x"}, kSecond, 100).has_value());
}
