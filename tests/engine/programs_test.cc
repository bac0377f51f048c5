// SPDX-License-Identifier: Apache-2.0
// The command-line contract of vitrine-prove, vitrine-verify and vitrine-genkey.
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>

#include "engine/proof_json.h"
#include "tests/engine/container_bytes.h"
#include "tests/engine/real_inputs.h"
#include "tests/scratch_folder.h"

namespace vitrine::engine::testing {
namespace {

using Catch::Matchers::Contains;

struct Ended {
  int exit_code = -1;
  std::string out, err;
};

class Programs {
 public:
  // Runs VITRINE_BIN/`command`, a program's name and its arguments.
  Ended run(const std::string& command) const {
    return run_into((scratch_ / "stdout").string(), command);
  }
  // The same with standard output in the file `out`.
  Ended run_into(const std::string& out, const std::string& command) const {
    const std::string err = (scratch_ / "stderr").string();
    const std::string line =
        std::string(VITRINE_BIN) + "/" + command + " >" + out + " 2>" + err + " </dev/null";
    const int status = std::system(("exec bash -c " + quoted(line)).c_str());
    REQUIRE(WIFEXITED(status));
    return {WEXITSTATUS(status), is_regular(out) ? read_file(out) : "", read_file(err)};
  }
  std::string file(const std::string& name) const { return (scratch_ / name).string(); }

 private:
  // For a shell, as one word.
  static std::string quoted(const std::string& text) {
    std::string word = "'";
    for (const char letter : text) word += letter == '\'' ? "'\\''" : std::string(1, letter);
    return word + "'";
  }
  static bool is_regular(const std::string& path) { return std::filesystem::is_regular_file(path); }

  ScratchFolder scratch_;
};

bool is_one_line(const std::string& text) {
  return text.size() > 1 && text.find('\n') == text.size() - 1;
}

std::string key_and_witness(const std::filesystem::path& folder, int witness) {
  return " --zkey " + (folder / "circuit.zkey").string() + " --wtns " +
         (folder / ("witness." + std::to_string(witness) + ".wtns")).string();
}

std::string verify_command(const std::filesystem::path& folder, const std::string& proof,
                           const std::string& inputs) {
  return "vitrine-verify --vkey " + (folder / "verification_key.json").string() + " --proof " +
         proof + " --public " + inputs;
}

TEST_CASE("vitrine-prove makes neither a database nor a folder for what outlives it") {
  const Programs programs;
  const ScratchFolder state;
  for (const char* variable : {"HOME", "XDG_STATE_HOME", "STATE_DIRECTORY"}) {
    const std::string folder = state / variable;
    std::filesystem::create_directory(folder);
    const char* before = std::getenv(variable);
    const std::string kept = before == nullptr ? "" : before;
    ::setenv(variable, folder.c_str(), 1);
    const Ended proved =
        programs.run("vitrine-prove" + key_and_witness(circuit_folder("bn128", "multiplier"), 1) +
                     " --out " + programs.file(variable));
    kept.empty() ? ::unsetenv(variable) : ::setenv(variable, kept.c_str(), 1);
    INFO(variable);
    CHECK(proved.exit_code == 0);
    CHECK(std::filesystem::is_empty(folder));
    CHECK(std::distance(std::filesystem::directory_iterator(programs.file(variable)), {}) == 2);
  }
}

TEST_CASE("one witness gives proof.json and public.json, which verify") {
  const Programs programs;
  for (const char* curve : {"bn128", "bls12381"}) {
    const auto folder = circuit_folder(curve, "demo");
    const Ended proved =
        programs.run("vitrine-prove" + key_and_witness(folder, 1) + " --out " + programs.file("o"));
    CHECK(proved.exit_code == 0);
    CHECK_THAT(proved.err, Contains("1 of 1 partitions"));
    const std::string proof = programs.file("o/proof.json");
    const std::string inputs = programs.file("o/public.json");
    CHECK(read_file(inputs) == read_file(folder / "public.json"));
    const Ended verified = programs.run(verify_command(folder, proof, inputs));
    CHECK(verified.exit_code == 0);
    CHECK(verified.out == "valid\n");
    const Ended positional =
        programs.run("vitrine-verify " + (folder / "verification_key.json").string() + " " +
                     inputs + " " + proof);
    CHECK(positional.exit_code == 0);
    const std::filesystem::path compressed = programs.file("o/proof.bin");
    if (std::string_view(curve) == "bls12381") {
      CHECK(std::filesystem::file_size(compressed) == 192);
    } else {
      CHECK_FALSE(std::filesystem::exists(compressed));
    }
  }
}

TEST_CASE("more witnesses give numbered files, in order") {
  const Programs programs;
  const auto folder = circuit_folder("bn128", "demo");
  const Ended proved =
      programs.run("vitrine-prove --quiet --timings" + key_and_witness(folder, 2) + " --wtns " +
                   (folder / "witness.1.wtns").string() + " --out " + programs.file("o"));
  CHECK(proved.exit_code == 0);
  CHECK(proved.err.empty());
  CHECK_THAT(proved.out, Contains("gpu_proving"));
  CHECK(read_file(programs.file("o/public.1.json")) == read_file(folder / "public.json"));
  for (const std::string number : {"0", "1"}) {
    CHECK(programs
              .run(verify_command(folder, programs.file("o/proof." + number + ".json"),
                                  programs.file("o/public." + number + ".json")))
              .exit_code == 0);
  }
}

TEST_CASE("the positional form writes the files it is given") {
  const Programs programs;
  const auto folder = circuit_folder("bls12381", "multiplier");
  const std::string proof = programs.file("p.json");
  const std::string inputs = programs.file("i.json");
  const Ended proved =
      programs.run("vitrine-prove " + (folder / "circuit.zkey").string() + " " +
                   (folder / "witness.2.wtns").string() + " " + proof + " " + inputs);
  CHECK(proved.exit_code == 0);
  CHECK(programs.run(verify_command(folder, proof, inputs)).exit_code == 0);
}

TEST_CASE("wrong arguments give one line that names them, and exit 2") {
  const Programs programs;
  const std::pair<const char*, const char*> examples[] = {
      {"vitrine-prove --bogus", "--bogus"},
      {"vitrine-prove", "expected --zkey"},
      {"vitrine-prove a b c", "expected --zkey"},
      {"vitrine-prove --zkey a --wtns b", "--out"},
      {"vitrine-prove --zkey a --wtns b --out c --threads 0", "--threads"},
      {"vitrine-prove --zkey a --wtns b --out c --threads many", "--threads"},
      {"vitrine-prove --instance UPPER a b c d", "UPPER"},
      {"vitrine-prove --log-format xml a b c d", "--log-format"},
      {"vitrine-verify --bogus", "--bogus"},
      {"vitrine-verify a b", "expected --vkey"},
      {"vitrine-genkey --bogus", "--bogus"},
      {"vitrine-genkey --circuit chain --log2 8 --out x", "--insecure"},
      {"vitrine-genkey --circuit chain --log2 2 --insecure --out x", "--log2"},
      {"vitrine-genkey --circuit spiral --log2 8 --insecure --out x", "--circuit"},
      {"vitrine-genkey --insecure --out x", "--r1cs or --circuit"},
      {"vitrine-genkey --circuit chain --log2 8 --insecure", "--out"},
  };
  for (const auto& [command, named] : examples) {
    CAPTURE(command);
    const Ended ended = programs.run(command);
    CHECK(ended.exit_code == 2);
    CHECK(is_one_line(ended.err));
    CHECK_THAT(ended.err, Contains(named));
    CHECK(ended.out.empty());
  }
}

TEST_CASE("every program tells its help and version") {
  const Programs programs;
  for (const std::string program : {"vitrine-prove", "vitrine-verify", "vitrine-genkey"}) {
    const Ended version = programs.run(program + " --version");
    CHECK(version.exit_code == 0);
    CHECK(version.out == program + " " VITRINE_VERSION "\n");
    const Ended help = programs.run(program + " --help");
    CHECK(help.exit_code == 0);
    CHECK_THAT(help.out, Contains("--instance"));
    const bool publishes = program == "vitrine-prove";
    CHECK((help.out.find("without a meaning here") == std::string::npos) == publishes);
  }
}

TEST_CASE("bad input files give one line that names them, and exit 1") {
  const Programs programs;
  const auto folder = circuit_folder("bn128", "demo");
  const std::string out = " --out " + programs.file("o");
  SECTION("no such key") {
    const Ended ended = programs.run("vitrine-prove --zkey absent --wtns absent" + out);
    CHECK(ended.exit_code == 1);
    CHECK(is_one_line(ended.err));
    CHECK_THAT(ended.err, Contains("absent: cannot be opened"));
  }
  SECTION("witness of another circuit") {
    const Ended ended =
        programs.run("vitrine-prove --zkey " + (folder / "circuit.zkey").string() + " --wtns " +
                     (circuit_folder("bn128", "multiplier") / "witness.0.wtns").string() + out);
    CHECK(ended.exit_code == 1);
    CHECK(is_one_line(ended.err));
    CHECK_FALSE(std::filesystem::exists(programs.file("o/proof.json")));
  }
  SECTION("witness that satisfies nothing") {
    ContainerBytes witness(folder / "witness.1.wtns");
    witness.flip_bit(8 * (witness.section(2).begin + 32 * 100));
    witness.write(programs.file("w.wtns"));
    const Ended ended = programs.run("vitrine-prove --zkey " + (folder / "circuit.zkey").string() +
                                     " --wtns " + programs.file("w.wtns") + out);
    CHECK(ended.exit_code == 1);
    CHECK(is_one_line(ended.err));
    CHECK_THAT(ended.err, Contains("does not verify"));
    CHECK_FALSE(std::filesystem::exists(programs.file("o/proof.json")));
  }
  SECTION("wrong public input") {
    std::string text = read_file(folder / "public.json");
    PublicInputs inputs = parse_public(text).value();
    inputs.values[0][0] ^= 1;
    std::ofstream(programs.file("i.json")) << public_to_json(inputs);
    const Ended ended = programs.run(
        verify_command(folder, (folder / "proof.json").string(), programs.file("i.json")));
    CHECK(ended.exit_code == 1);
    CHECK(is_one_line(ended.err));
    CHECK_THAT(ended.err, Contains("invalid"));
  }
  SECTION("a proof that cannot be read was not examined") {
    const Ended ended = programs.run(
        verify_command(folder, programs.file("absent"), (folder / "public.json").string()));
    CHECK(ended.exit_code == 1);
    CHECK(is_one_line(ended.err));
    CHECK_THAT(ended.err, Contains("absent: cannot be opened") && !Contains("invalid"));
  }
  SECTION("unwritable folder") {
    std::ofstream(programs.file("file")) << "in the way";
    const Ended ended = programs.run("vitrine-prove" + key_and_witness(folder, 1) + " --out " +
                                     programs.file("file/o"));
    CHECK(ended.exit_code == 1);
    CHECK(is_one_line(ended.err));
  }
}

TEST_CASE("a key without a contribution proves only when asked to be insecure") {
  const Programs programs;
  const auto folder = circuit_folder("bn128", "multiplier");
  const std::string command = "vitrine-prove --zkey " + (folder / "circuit_0000.zkey").string() +
                              " --wtns " + (folder / "witness.1.wtns").string() + " --out " +
                              programs.file("o");
  const Ended refused = programs.run(command);
  CHECK(refused.exit_code == 1);
  CHECK_THAT(refused.err, Contains("contribution"));
  CHECK(programs.run(command + " --insecure").exit_code == 0);
}

TEST_CASE("a proof leaves nothing of its instance behind") {
  const Programs programs;
  std::filesystem::create_directory(programs.file("status"));
  const auto folder = circuit_folder("bn128", "multiplier");
  const Ended proved =
      programs.run("vitrine-prove" + key_and_witness(folder, 1) + " --out " + programs.file("o") +
                   " --segment " + programs.file("status/one.segment"));
  CHECK(proved.exit_code == 0);
  CHECK(std::filesystem::is_empty(programs.file("status")));
}

TEST_CASE("vitrine-prove says when nobody can see its instance, unless it is to be quiet") {
  const Programs programs;
  const std::string command =
      "vitrine-prove" + key_and_witness(circuit_folder("bn128", "multiplier"), 1) + " --out " +
      programs.file("o") + " --segment " + programs.file("absent/x");
  const Ended proved = programs.run(command);
  CHECK(proved.exit_code == 0);
  CHECK_THAT(proved.err, Contains("vitrine-prove: warning: the status is not shared: ") &&
                             Contains("absent/x"));
  const Ended quiet = programs.run(command + " --quiet");
  CHECK(quiet.exit_code == 0);
  CHECK(quiet.err.empty());
}

TEST_CASE("output that cannot be written is said, and exit 1") {
  const Programs programs;
  const std::string node = programs.file("full");
  if (::mknod(node.c_str(), S_IFCHR | 0600, makedev(1, 7)) != 0 || ::access(node.c_str(), W_OK)) {
    WARN("not tested: device nodes cannot be made here");
    return;
  }
  const auto folder = circuit_folder("bn128", "multiplier");
  const std::string commands[] = {
      "vitrine-prove --help",
      "vitrine-prove --version",
      "vitrine-prove --quiet --timings" + key_and_witness(folder, 1) + " --out " +
          programs.file("o"),
      verify_command(folder, (folder / "proof.json").string(), (folder / "public.json").string()),
      "vitrine-genkey --circuit chain --log2 8 --insecure --out " + programs.file("k"),
      "vitrined --print-config",
      "vitrined --check-config"};
  for (const std::string& command : commands) {
    CAPTURE(command);
    const Ended ended = programs.run_into(node, command);
    CHECK(ended.exit_code == 1);
    CHECK(is_one_line(ended.err));
    CHECK_THAT(ended.err, Contains("writing the output: No space left"));
  }
}

TEST_CASE("names with control characters reach the terminal harmless") {
  const Programs programs;
  const std::string hostile = "$'a\\e[31m\\nb'";
  for (const std::string& command :
       {"vitrine-verify " + hostile + " x y",
        "vitrine-prove " + hostile + " x " + programs.file("p") + " " + programs.file("i"),
        "vitrine-prove --log-level " + hostile, "vitrined --config " + hostile}) {
    CAPTURE(command);
    const Ended ended = programs.run(command);
    CHECK(ended.exit_code != 0);
    CHECK(is_one_line(ended.err));
    CHECK(ended.err.find('\x1b') == std::string::npos);
    CHECK_THAT(ended.err, Contains("a\\x1b[31m"));
  }
}

TEST_CASE("generated keys and witnesses prove from the command line") {
  const Programs programs;
  const std::string out = programs.file("k");
  const Ended made = programs.run(
      "vitrine-genkey --circuit sha256 --curve bls12381 --log2 10 --witnesses 2 --insecure --out " +
      out);
  CHECK(made.exit_code == 0);
  const Ended proved =
      programs.run("vitrine-prove --zkey " + out + "/circuit.zkey --wtns " + out +
                   "/witness.0.wtns --wtns " + out + "/witness.1.wtns --out " + out);
  CHECK(proved.exit_code == 0);
  CHECK(read_file(out + "/public.0.json") != read_file(out + "/public.1.json"));
  CHECK(programs
            .run("vitrine-verify " + out + "/verification_key.json " + out + "/public.1.json " +
                 out + "/proof.1.json")
            .exit_code == 0);
  const Ended again = programs.run("vitrine-genkey --r1cs " + out + "/circuit.r1cs --insecure" +
                                   " --out " + programs.file("again"));
  CHECK(again.exit_code == 0);
}

TEST_CASE("vitrined simulates a load: a table, JSON, or the bad line") {
  const Programs programs;
  const std::string load = programs.file("load.jsonl");
  std::ofstream(load) << R"({"settings": {"memory_budget": "1GiB"}})"
                      << "\n"
                      << R"({"circuit": "c", "partition_bytes": "1MiB", "synthesize": "2s"})"
                      << "\n"
                      << R"({"jobs": "c", "count": 1000, "every": "1s"})"
                      << "\n";
  const Ended table = programs.run("vitrined --simulate " + load);
  CHECK(table.exit_code == 0);
  CHECK_THAT(table.out, Contains("normal") && Contains("peak memory"));
  const Ended object = programs.run("vitrined --json --simulate " + load);
  CHECK(object.exit_code == 0);
  CHECK(is_one_line(object.out));
  CHECK_THAT(object.out, Contains("\"done\":"));
  std::ofstream(load, std::ios::app) << "{\"job\": \"absent\"}\n";
  const Ended bad = programs.run("vitrined --simulate " + load);
  CHECK(bad.exit_code == 2);
  CHECK(is_one_line(bad.err));
  CHECK_THAT(bad.err, Contains(load + " line 4: no circuit 'absent'"));
  CHECK(programs.run("vitrined --simulate " + programs.file("absent")).exit_code == 2);
  CHECK(programs.run("vitrined --json").exit_code == 2);
}

}  // namespace
}  // namespace vitrine::engine::testing
