// SPDX-License-Identifier: Apache-2.0
// Keys and witnesses that are not what they should be, given to vitrined: what it says, how fast,
// and that other circuits go on (case E19).
#include <boost/json.hpp>
#include <catch2/catch.hpp>
#include <chrono>

#include "tests/engine/container_bytes.h"
#include "tests/engine/real_inputs.h"
#include "tests/engine/segment_watch.h"
#include "tests/system/daemon_process.h"

namespace vitrine::system_test {
namespace {

using Catch::Matchers::Contains;
using engine::testing::circuit_folder;
using engine::testing::ContainerBytes;
using engine::testing::read_file;

std::string demo_witness() { return read_file(circuit_folder("bn128", "demo") / "witness.1.wtns"); }

// One daemon with circuit `demo`, and `bad` when there is a key of its own; watched all the time.
class Target {
 public:
  explicit Target(const Site& site, const std::vector<std::string>& more = {})
      : client_(site.socket()), daemon_(site, more), watch_(site.segment()) {}
  ~Target() {
    CHECK(client_.post_form("/v1/prove?circuit=demo", {demo_witness()}).status == 200);
    CHECK(daemon_.is_running());
    for (const std::string& violation : watch_.stop()) FAIL_CHECK(violation);
  }

  // Why the job failed, which it does within 2 s.
  std::string failure(const std::string& circuit, const std::string& witness) {
    const auto before = std::chrono::steady_clock::now();
    const ApiAnswer answer =
        client_.post_form("/v1/prove?circuit=" + circuit, {witness}, "witness");
    CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(2));
    CHECK((answer.status == 422 || answer.status == 500));
    return boost::json::parse(answer.body).at("detail").as_string().c_str();
  }

 private:
  ApiClient client_;
  RunningDaemon daemon_;
  engine::testing::SegmentWatch watch_;
};

// A place in a key, and what is said of one wrong byte there.
struct WrongByte {
  const char* where;
  unsigned section;
  std::size_t offset_bytes;
  std::vector<std::string> told;
};

TEST_CASE("one wrong byte in a proving key is found and named with what was there and expected",
          "[E19]") {
  const WrongByte bytes[] = {
      {"prime", 2, 4, {"section 2", "not that of bn128"}},
      {"point of alpha", 2, 100, {"section 2"}},
      {"point of A", 5, 40, {"section 5"}},
      {"point of B in G2", 7, 70, {"section 7"}},
      {"point of H", 9, 40, {"section 9"}},
      {"coefficient", 4, 16, {"does not verify", "key"}},
  };
  for (const WrongByte& wrong : bytes) {
    INFO(wrong.where);
    const Site site;
    ContainerBytes key(circuit_folder("bn128", "demo") / "circuit.zkey");
    key.flip_bit(8 * (key.section(wrong.section).begin + wrong.offset_bytes));
    const std::string path = site.scratch / "bad.zkey";
    key.write(path);
    Target target(site, {"--circuit", "bad=" + path});
    const std::string failure = target.failure("bad", demo_witness());
    INFO(failure);
    CHECK_THAT(failure, Contains(path));
    for (const std::string& word : wrong.told) CHECK_THAT(failure, Contains(word));
  }
}

TEST_CASE("a witness that is not the circuit's is named with what was there and expected",
          "[E19]") {
  const Site site;
  Target target(site);
  const std::string good = demo_witness();
  const std::string other_circuit =
      read_file(circuit_folder("bn128", "multiplier") / "witness.1.wtns");
  const std::string other_field = read_file(circuit_folder("bls12381", "demo") / "witness.1.wtns");
  const std::pair<std::string, std::vector<std::string>> cases[] = {
      {other_circuit, {"witness 0", "expected"}},
      {other_field, {"witness 0", "bls12381", "bn128"}},
      {good.substr(0, good.size() / 2), {"witness 0", "bytes"}},
      {good.substr(0, 3), {"witness 0"}}};
  for (const auto& [witness, told] : cases) {
    const std::string failure = target.failure("demo", witness);
    INFO(failure);
    for (const std::string& word : told) CHECK_THAT(failure, Contains(word));
  }
}

TEST_CASE("a proving key that is short, or is another's file, is named with both lengths or kinds",
          "[E19]") {
  const Site site;
  const std::string path = site.scratch / "bad.zkey";
  ContainerBytes key(circuit_folder("bn128", "demo") / "circuit.zkey");
  key.truncate(key.size() - 100);
  key.write(path);
  Target target(site, {"--circuit", "bad=" + path});
  const std::string failure = target.failure("bad", demo_witness());
  INFO(failure);
  CHECK_THAT(failure, Contains(path) && Contains("bytes"));
}

}  // namespace
}  // namespace vitrine::system_test
