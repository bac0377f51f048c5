// SPDX-License-Identifier: Apache-2.0
// The files of one call of vitrine-prove: which it reads, which it writes, and what is wrong with
// them, before any work.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace vitrine::engine {

struct ProveFiles {
  std::string zkey, out;
  std::vector<std::string> wtns;
  std::vector<std::string> positions;  // ZKEY WTNS PROOF PUBLIC, in the habit of its peers
};

struct ProofFiles {
  std::filesystem::path proof, inputs;
};

// The files to write for partition `index`.
[[nodiscard]] ProofFiles proof_files(const ProveFiles& files, std::size_t index);

// Where the compressed proofs of all partitions go, if their curve has such a form. Requires a
// folder.
[[nodiscard]] std::filesystem::path compressed_file(const ProveFiles& files);

// Takes the files from the flags or from the positions; otherwise says what is wrong, also when a
// folder is to be written, or a file that is read or written otherwise too. Witnesses may be
// repeated, and a character device takes more than one file.
[[nodiscard]] std::optional<std::string> settle_files(ProveFiles& files);

}  // namespace vitrine::engine
