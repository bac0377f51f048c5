// SPDX-License-Identifier: Apache-2.0
// The file a partition's witness is read from.
#pragma once

#include <filesystem>
#include <memory>

namespace vitrine::engine {

struct WitnessFile {
  std::filesystem::path path;
  // The engine's own copy of an upload (spool.h): it is removed with its last holder. Null when
  // the file is the caller's.
  std::shared_ptr<const void> copy;
};

}  // namespace vitrine::engine
