// SPDX-License-Identifier: Apache-2.0
#include "engine/configuration_sources.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <map>

#include "engine/live_settings.h"
#include "engine/settings.h"
#include "tests/engine/container_bytes.h"
#include "tests/scratch_folder.h"

namespace vitrine::engine::testing {
namespace {

using Catch::Matchers::Contains;

// A folder in the place of /etc/vitrine, and an environment.
class Sources {
 public:
  void write(const std::string& name, const std::string& text) {
    const auto path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  std::filesystem::path path(const std::string& name) const { return folder_ / name; }

  Result<LoadedConfiguration> load() {
    request.directory = folder_.path();
    request.variable = [this](const char* name) -> const char* {
      const auto found = environment.find(name);
      return found == environment.end() ? nullptr : found->second.c_str();
    };
    return load_configuration(request);
  }
  std::string error() {
    const auto loaded = load();
    return loaded ? std::string() : loaded.error().text;
  }

  ConfigurationRequest request;
  std::map<std::string, std::string> environment;

 private:
  ScratchFolder folder_;
};

TEST_CASE("without any source the defaults hold and say so") {
  Sources sources;
  const auto loaded = sources.load();
  REQUIRE(loaded.has_value());
  CHECK(loaded->configuration.workers_per_device == 2);
  CHECK_THAT(loaded->to_toml(), Contains("backend = \"auto\"  # default"));
}

TEST_CASE("flags go before the environment, that before drop-ins, those before the file") {
  Sources sources;
  sources.write("main.toml",
                "[engine]\nthreads = 1\nworkers_per_device = 1\nsynthesis_concurrency = 1\n"
                "job_queue_capacity = 1\n");
  sources.write("main.toml.d/10.toml", "[engine]\nthreads = 2\nworkers_per_device = 3\n");
  sources.write("main.toml.d/20.toml", "[engine]\nthreads = 3\nsynthesis_concurrency = 3\n");
  sources.environment["VITRINE_THREADS"] = "4";
  sources.environment["VITRINE_SYNTHESIS_CONCURRENCY"] = "4";
  sources.request.flags = {{"threads", "5"}};
  const auto loaded = sources.load();
  REQUIRE(loaded.has_value());
  CHECK(loaded->configuration.threads == 5);
  CHECK(loaded->configuration.synthesis_concurrency == 4);
  CHECK(loaded->configuration.workers_per_device == 3);
  CHECK(loaded->configuration.job_queue_capacity == 1);
  CHECK_THAT(loaded->to_toml(), Contains("threads = 5  # flag --threads") &&
                                    Contains("# environment VITRINE_SYNTHESIS_CONCURRENCY") &&
                                    Contains("main.toml.d/10.toml:3"));
}

TEST_CASE("an instance without a file of its own takes the common one") {
  Sources sources;
  sources.write("vitrine.toml", "[engine]\nthreads = 7\n");
  sources.request.instance = "second";
  CHECK(sources.load()->configuration.threads == 7);
  sources.write("second.toml", "[engine]\nthreads = 8\n");
  CHECK(sources.load()->configuration.threads == 8);
}

TEST_CASE("circuits come from the file, from circuits.d and from flags") {
  Sources sources;
  sources.write("main.toml", "[circuit.a]\nzkey = \"a.zkey\"\nkind = \"porep\"\n");
  sources.write("circuits.d/b.toml", "[circuit.b-2]\nzkey = \"/keys/b.zkey\"\ninsecure = true\n");
  sources.request.circuits = {"c=/keys/c.zkey"};
  const auto loaded = sources.load();
  REQUIRE(loaded.has_value());
  const auto& circuits = loaded->configuration.circuits;
  REQUIRE(circuits.size() == 3);
  CHECK(circuits[0].zkey == sources.path("a.zkey"));  // beside the file that names it
  CHECK(circuits[0].kind == "porep");
  CHECK(circuits[1].insecure);
  CHECK(circuits[1].kind == "b-2");
  CHECK(circuits[2].zkey == "/keys/c.zkey");
}

TEST_CASE("what is not understood is refused by name, with its place") {
  Sources sources;
  sources.write("main.toml", "[engine]\nthread = 1\n");
  CHECK_THAT(sources.error(), Contains("main.toml:2") && Contains("unknown key 'thread'"));
  sources.write("main.toml", "[motor]\n");
  CHECK_THAT(sources.error(), Contains("unknown key 'motor'"));
  sources.write("main.toml", "threads = 2\n");
  CHECK_THAT(sources.error(), Contains("unknown key 'threads': it stands below [engine]"));
  sources.write("main.toml", "[circuit.a]\nzkey = \"a\"\ncolour = 1\n");
  CHECK_THAT(sources.error(), Contains("main.toml:3") && Contains("'circuit.a.colour'"));
  sources.write("main.toml", "[engine]\nthreads = \n");
  CHECK_THAT(sources.error(), Contains("main.toml:2"));
  sources.write("main.toml", "[circuit.a]\nkind = \"x\"\n");
  CHECK_THAT(sources.error(), Contains("zkey is missing"));
  sources.write("main.toml", "[circuit.\"a b\"]\nzkey = \"a\"\n");
  CHECK_THAT(sources.error(), Contains("'a b'"));
}

TEST_CASE("sizes, durations and numbers are read exactly or refused") {
  Sources sources;
  const auto error_of = [&](const std::string& line) {
    sources.write("main.toml", "[engine]\n" + line + "\n");
    return sources.error();
  };
  CHECK(error_of("memory_budget = \"1.5GiB\"").empty());
  CHECK(sources.load()->configuration.memory_budget_bytes == std::uint64_t{3} << 29);
  CHECK(error_of("memory_budget = \"auto\"").empty());
  CHECK_THAT(error_of("memory_budget = \"512G\""), Contains("'512G'"));
  CHECK_THAT(error_of("memory_budget = -1"), Contains("'-1'"));
  for (const std::string limit : {"memory_budget", "spool_limit", "upload_limit"}) {
    CHECK_THAT(error_of(limit + " = 0"), Contains(limit + " = '0'") && Contains("more than 0"));
  }
  CHECK(error_of("memory_safety_margin = 0").empty());
  CHECK_THAT(error_of("drain_timeout = 25"), Contains("drain_timeout"));
  CHECK_THAT(error_of("threads = 1.5"), Contains("threads"));
  CHECK_THAT(error_of("threads = 100000"), Contains("0 to 1024"));
  CHECK_THAT(error_of("backend = \"gpu\""), Contains("auto cpu cuda"));
  CHECK_THAT(error_of("shm_mode = \"0777\""), Contains("octal"));
  CHECK_THAT(error_of("witness_directories = [\"relative\"]"), Contains("absolute"));
}

TEST_CASE("a relative path begins at the file that names it, else at the current folder") {
  Sources sources;
  sources.write("main.toml", "[engine]\nsocket = \"a/../y.sock\"\nsegment = \"/dev/shm/s\"\n");
  sources.request.flags = {{"spool_directory", "spool"}};
  const auto loaded = sources.load();
  REQUIRE(loaded.has_value());
  CHECK(loaded->configuration.socket == sources.path("y.sock"));
  CHECK(loaded->configuration.segment == "/dev/shm/s");
  CHECK(loaded->configuration.spool_directory == std::filesystem::current_path() / "spool");
  for (const std::string setting : {"segment", "socket", "spool_directory"}) {
    sources.request.flags = {{setting, "folder/"}};
    CHECK_THAT(sources.error(), Contains("'folder/'") && Contains("ends in a name"));
  }
}

TEST_CASE("a circuit that flags give twice is refused, one that a file gives is changed") {
  Sources sources;
  sources.write("main.toml", "[circuit.a]\nzkey = \"/a\"\n");
  sources.request.circuits = {"a=/b"};
  CHECK(sources.load()->configuration.circuits.at(0).zkey == "/b");
  sources.request.circuits = {"a=/b", "a=/c"};
  CHECK_THAT(sources.error(), Contains("--circuit") && Contains("'a' is given more than once"));
}

TEST_CASE("an empty variable counts as unset") {
  Sources sources;
  sources.write("main.toml", "[engine]\nthreads = 3\n");
  sources.environment["VITRINE_THREADS"] = "";
  const auto loaded = sources.load();
  REQUIRE(loaded.has_value());
  CHECK(loaded->configuration.threads == 3);
}

TEST_CASE("a variable that can only be a misspelt setting is refused by name") {
  Sources sources;
  const auto error_with = [&](const std::string& name, const std::string& value) {
    sources.environment = {{name, value}};
    sources.request.variable_names = {name};
    return sources.error();
  };
  CHECK_THAT(error_with("VITRINE_NOPE", "1"), Contains("environment VITRINE_NOPE"));
  CHECK_THAT(error_with("VITRINE_threads", "1"), Contains("VITRINE_threads"));
  CHECK(error_with("VITRINE_NOPE", "").empty());
  for (const std::string name :
       {"VITRINE_INSTANCE", "VITRINE_HTTP_LISTEN", "VITRINE_TEST_SEED", "VITRINE_SERVICE_HOST",
        "VITRINE_PORT_80_TCP_ADDR", "VITRINE_HTTP_SERVICE_PORT", "PATH"}) {
    CHECK(error_with(name, "x").empty());
  }
  CHECK(error_with("VITRINE_THREADS", "1").empty());
}

TEST_CASE("docs/configuration.md has a row for each setting, with its flag and variable") {
  const std::string page =
      read_file(std::filesystem::path(VITRINE_TEST_DATA) / "../../docs/configuration.md");
  const Configuration defaults;
  for (const Setting& setting : settings()) {
    std::string flag = "--" + std::string(setting.name);
    std::replace(flag.begin(), flag.end(), '_', '-');
    std::string variable = "VITRINE_" + std::string(setting.name);
    std::transform(variable.begin(), variable.end(), variable.begin(), ::toupper);
    const std::string row = "| `" + std::string(setting.name) + "` | `" + flag + "` | `" +
                            variable + "` | `" + setting.show(defaults) + "` |";
    const bool has_own_default = !setting.show(defaults).empty();
    CHECK_THAT(page, Contains(has_own_default ? row : row.substr(0, row.size() - 5)));
  }
  for (const std::string key :
       {"zkey", "kind", "insecure", "keep_resident", "digest", "priority"}) {
    CHECK_THAT(page, Contains("| `" + key + "` |"));
  }
}

TEST_CASE("docs/configuration.md names the settings that a reload changes, and no others") {
  const std::string page =
      read_file(std::filesystem::path(VITRINE_TEST_DATA) / "../../docs/configuration.md");
  const std::size_t begin = page.find("These settings take effect at");
  REQUIRE(begin != std::string::npos);
  const std::string named = page.substr(begin, page.find(". The others", begin) - begin);
  for (const Setting& setting : settings()) {
    INFO(setting.name);
    const bool is_named = named.find("`" + std::string(setting.name) + "`") != std::string::npos;
    CHECK(is_named == is_live(setting.name));
  }
}

TEST_CASE("a circuit's digest is 64 hexadecimal digits, its priority one of four words") {
  Sources sources;
  const std::string digest = "0123456789abcdefABCDEF0123456789abcdef0123456789abcdef0123456789";
  sources.write("main.toml",
                "[circuit.a]\nzkey = \"/a\"\ndigest = \"" + digest + "\"\npriority = \"high\"\n");
  const auto loaded = sources.load();
  REQUIRE(loaded.has_value());
  CHECK(loaded->configuration.circuits.at(0).digest ==
        "0123456789abcdefabcdef0123456789abcdef0123456789abcdef0123456789");
  CHECK(loaded->configuration.circuits.at(0).priority == shm::Priority::kHigh);
  CHECK_THAT(loaded->to_toml(), Contains("priority = \"high\"  # "));
  for (const std::string& wrong : {std::string("12"), std::string(64, 'g'), digest + "0"}) {
    sources.write("main.toml", "[circuit.a]\nzkey = \"/a\"\ndigest = \"" + wrong + "\"\n");
    CHECK_THAT(sources.error(), Contains("main.toml:3: digest = ") && Contains("SHA-256"));
  }
  sources.write("main.toml", "[circuit.a]\nzkey = \"/a\"\npriority = \"urgent\"\n");
  CHECK_THAT(sources.error(), Contains("main.toml:3: priority = 'urgent'"));
}

TEST_CASE("a file that --config names must be there") {
  Sources sources;
  sources.request.file = sources.path("absent.toml");
  CHECK_THAT(sources.error(), Contains("absent.toml"));
}

TEST_CASE("every value of a circuit is shown with its origin") {
  Sources sources;
  sources.write("main.toml", "[circuit.a]\nzkey = \"/a\"\ninsecure = true\n");
  sources.request.circuits = {"b=/b"};
  const std::string shown = sources.load()->to_toml();
  CHECK_THAT(shown, Contains("zkey = \"/a\"  # " + sources.path("main.toml").string() + ":2\n"));
  CHECK_THAT(shown, Contains("insecure = true  # " + sources.path("main.toml").string() + ":3\n"));
  CHECK_THAT(shown, Contains("kind = \"a\"  # default\n"));
  CHECK_THAT(shown, Contains("zkey = \"/b\"  # flag --circuit\n"));
}

TEST_CASE("the shown configuration loads to the same configuration") {
  Sources sources;
  sources.write("main.toml",
                "[engine]\nmemory_budget = \"64MiB\"\nwitness_directories = [\"/a\", \"/b\"]\n"
                "[circuit.\"x.1\"]\nzkey = \"/k\"\n");
  sources.request.circuits = {"y=a\n\"key\""};
  const std::string shown = sources.load()->to_toml();
  sources.request.circuits.clear();
  sources.write("main.toml", shown);
  const auto again = sources.load();
  INFO(shown);
  REQUIRE(again.has_value());
  CHECK(again->configuration.memory_budget_bytes == std::uint64_t{64} << 20);
  CHECK(again->configuration.witness_directories.size() == 2);
  CHECK(again->configuration.circuits.at(0).id == "x.1");
  CHECK(again->configuration.circuits.at(1).zkey.filename() == "a\n\"key\"");
}

}  // namespace
}  // namespace vitrine::engine::testing
