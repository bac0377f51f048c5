// SPDX-License-Identifier: Apache-2.0
// Replays the committed corpus of one fuzz target, without a fuzzer.
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

TEST_CASE("every input of the corpus is read or refused, and nothing more") {
  std::size_t inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(VITRINE_CORPUS)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    INFO(entry.path());
    CHECK(LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                 bytes.size()) == 0);
    ++inputs;
  }
  CHECK(inputs > 0);
}
