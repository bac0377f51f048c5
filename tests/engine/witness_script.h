// SPDX-License-Identifier: Apache-2.0
// A `witness_command` that is a shell script of a test's own.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "tests/engine/real_inputs.h"
#include "tests/scratch_folder.h"

namespace vitrine::engine::testing {

class WitnessScript {
 public:
  // In `text`, $1 is the input, $2 the place of the witness, $3 a folder that stays.
  explicit WitnessScript(const std::string& text) {
    std::ofstream(path()) << "#!/bin/sh\n" << text << "\n";
    std::filesystem::permissions(path(), std::filesystem::perms::owner_all);
  }

  std::filesystem::path path() const { return scratch_ / "make_witness"; }
  std::filesystem::path folder() const { return scratch_.path(); }
  std::filesystem::path note(const std::string& name) const { return scratch_ / name; }
  bool has_note(const std::string& name) const { return std::filesystem::exists(note(name)); }
  std::vector<std::string> command() const { return {path(), "{input}", "{witness}", folder()}; }
  // The circuit `demo` makes its witnesses with it.
  void configure(EngineOptions& options) const {
    options.configuration.circuits[0].witness_command = command();
  }

 private:
  ScratchFolder scratch_;
};

// Text of a script that leaves a right witness of `demo`.
inline std::string copy_witness() {
  return "cp " + (circuit_folder("bn128", "demo") / "witness.3.wtns").string() + " \"$2\"";
}

}  // namespace vitrine::engine::testing
