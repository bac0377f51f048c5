// SPDX-License-Identifier: Apache-2.0
// The file a partition's witness is read from, and what it is called when it is talked about.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace vitrine::engine {

struct WitnessFile {
  std::filesystem::path path;
  // The engine's own copy of an upload (spool.h): it is removed with its last holder. Null when
  // the file is the caller's.
  std::shared_ptr<const void> copy;
  // The client's name of an upload, harmless; empty when it gave none.
  std::string name = {};
};

// `witness 1 (mine.wtns)`: the partition's number and what the client calls the file, which is
// never the name of the engine's copy.
[[nodiscard]] std::string witness_label(std::size_t partition, const WitnessFile& file);
// The same before there is a file; `name` is harmless, or empty when the client gave none.
[[nodiscard]] std::string witness_label(std::size_t partition, std::string_view name);

}  // namespace vitrine::engine
