// SPDX-License-Identifier: Apache-2.0
#include "engine/witness_command.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "engine/configuration_check.h"
#include "engine/configuration_sources.h"
#include "tests/engine/container_bytes.h"
#include "tests/engine/real_inputs.h"
#include "tests/scratch_folder.h"

namespace vitrine::engine::testing {
namespace {

using Catch::Matchers::Contains;
using Words = std::vector<std::string>;

// A configuration file with one circuit.
class CircuitFile {
 public:
  explicit CircuitFile(const std::string& lines) {
    std::ofstream(path()) << "[circuit.c]\nzkey = \"" << key << "\"\n" << lines << "\n";
  }
  std::filesystem::path path() const { return scratch_ / "f.toml"; }
  std::filesystem::path folder() const { return scratch_.path(); }
  Result<LoadedConfiguration> load() const {
    ConfigurationRequest request;
    request.file = path();
    return load_configuration(request);
  }
  std::string error() const {
    const auto loaded = load();
    return loaded ? std::string() : loaded.error().text;
  }

  std::string key = circuit_folder("bn128", "demo") / "circuit.zkey";

 private:
  ScratchFolder scratch_;
};

TEST_CASE("a witness command is read word by word, with its time limit, and shown so") {
  const CircuitFile file(
      "witness_command = [\"node\", \"/c:d/x y.js\", \"--in={input}\", \"{witness}\"]\n"
      "witness_timeout = \"90s\"");
  const auto loaded = file.load();
  REQUIRE(loaded.has_value());
  const CircuitConfiguration& circuit = loaded->configuration.circuits[0];
  CHECK(circuit.witness_command == Words{"node", "/c:d/x y.js", "--in={input}", "{witness}"});
  CHECK(circuit.witness_timeout_ns == 90'000'000'000);
  CHECK_THAT(loaded->to_toml(),
             Contains("witness_command = [\"node\", \"/c:d/x y.js\", \"--in={input}\", "
                      "\"{witness}\"]  # " +
                      file.path().string() + ":3\n") &&
                 Contains("witness_timeout = \"90s\"  # "));
  const CircuitFile shown("");
  std::ofstream(shown.path()) << loaded->to_toml();
  const auto again = shown.load();
  REQUIRE(again.has_value());
  CHECK(again->configuration.circuits[0].witness_command == circuit.witness_command);
}

TEST_CASE("a circuit has no witness command unless it is told, and ten minutes for one") {
  const CircuitFile file("");
  const auto loaded = file.load();
  REQUIRE(loaded.has_value());
  CHECK(loaded->configuration.circuits[0].witness_command.empty());
  CHECK(loaded->configuration.circuits[0].witness_timeout_ns == 600'000'000'000);
  CHECK(CircuitFile("witness_command = []").error().empty());
}

TEST_CASE("a program that is named with a folder begins at the file that names it") {
  const CircuitFile file("witness_command = [\"./make\", \"{input}\", \"{witness}\"]");
  CHECK(file.load().value().configuration.circuits[0].witness_command[0] == file.folder() / "make");
}

TEST_CASE("a witness command that could never work is refused with its place and the rule") {
  const std::pair<const char*, const char*> cases[] = {
      {"witness_command = \"node\"", "expected an array of texts"},
      {"witness_command = [\"node\", 7]", "expected an array of texts"},
      {"witness_command = [\"node\", \"{witness}\"]", "no word holds {input}"},
      {"witness_command = [\"node\", \"{input}\"]", "no word holds {witness}"},
      {"witness_command = [\"{input}\", \"{witness}\"]", "the first word must name a program"},
      {"witness_timeout = \"0s\"", "expected a duration"},
      {"witness_timeout = \"soon\"", "expected a duration"}};
  for (const auto& [line, rule] : cases) {
    const CircuitFile file(line);
    CHECK_THAT(file.error(), Contains(file.path().string() + ":3: ") && Contains(rule));
  }
  Words many(65, "{input}{witness}");
  many[0] = "node";
  CHECK(check_witness_command(many).has_value());
  CHECK(check_witness_command(Words{"node", "{input}{witness}" + std::string(5000, 'x')}));
  CHECK(check_witness_command(Words{"node", std::string("{input}{witness}\0", 17)}));
}

TEST_CASE("the places of the files are filled in wherever they stand in a word") {
  CHECK(command_words(Words{"p", "-i{input}", "{witness}:{witness}", "{other}"},
                      {"/s/in", "/s/out"}) == Words{"p", "-i/s/in", "/s/out:/s/out", "{other}"});
}

TEST_CASE("a program is looked for in PATH, or taken by its own path") {
  CHECK(find_program("sh").value().filename() == "sh");
  CHECK(find_program("/bin/sh").value() == "/bin/sh");
  CHECK_THAT(find_program("no-such-program").error().text, Contains("no such program in PATH"));
  const std::string key = CircuitFile("").key;  // a file, but no program
  CHECK_THAT(find_program(key).error().text, Contains("is not a program"));
  CHECK_THAT(find_program("/bin").error().text, Contains("is not a program"));
}

TEST_CASE("a check of the configuration names the commands that cannot be found") {
  const CircuitFile bad("witness_command = [\"no-such-program\", \"{input}\", \"{witness}\"]");
  const auto complaints = start_complaints(bad.load().value().configuration);
  REQUIRE(complaints.size() == 1);
  CHECK(complaints[0] == "circuit c: witness_command: no-such-program: no such program in PATH");
  const CircuitFile good("witness_command = [\"sh\", \"{input}\", \"{witness}\"]");
  CHECK(start_complaints(good.load().value().configuration).empty());
}

}  // namespace
}  // namespace vitrine::engine::testing
