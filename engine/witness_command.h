// SPDX-License-Identifier: Apache-2.0
// What a circuit's `witness_command` may be, and the command line it becomes.
//
// Layout: the program and its arguments, word by word; no shell takes part. `{input}` and
// `{witness}`, also inside a word, stand for the files of the run.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/error.h"

namespace vitrine::engine {

// The rule that the words break; nothing when they can be run, or there are none.
[[nodiscard]] std::optional<std::string> check_witness_command(std::span<const std::string> words);

// As a configuration file writes it: ["node", "..."]; no words are [].
[[nodiscard]] std::string witness_command_text(std::span<const std::string> words);

// A program that is named with a folder begins at `base`, the folder of the file that names it.
[[nodiscard]] std::string program_word(const std::string& word, const std::filesystem::path& base);

struct WitnessFiles {
  std::filesystem::path input;
  std::filesystem::path witness;
};
[[nodiscard]] std::vector<std::string> command_words(std::span<const std::string> words,
                                                     const WitnessFiles& files);

// PATH, or what is usual where there is none.
[[nodiscard]] std::string search_path();
// The file that the word runs: itself when it names a folder, else the first in PATH that may be
// run. Errors: kInternal, one line.
[[nodiscard]] Result<std::filesystem::path> find_program(const std::string& word);

}  // namespace vitrine::engine
