// SPDX-License-Identifier: Apache-2.0
#include "engine/prove_files.h"

#include <map>

#include "shm/write_target.h"

namespace vitrine::engine {
namespace {

constexpr std::size_t kMaxPartitions = 256;

// Every file with the words that say what it is for.
class KnownFiles {
 public:
  void add_input(const std::string& path, const std::string& use) {
    uses_.emplace(shm::file_identity(path), use);
  }

  // What is wrong with writing there.
  std::optional<std::string> add_output(const std::filesystem::path& path, const std::string& use) {
    std::error_code absent;
    const auto status = std::filesystem::status(path, absent);
    if (std::filesystem::is_directory(status)) return use + " " + path.string() + ": is a folder";
    if (std::filesystem::is_character_file(status)) return std::nullopt;
    const auto [known, is_new] = uses_.emplace(shm::file_identity(path), use);
    if (is_new) return std::nullopt;
    return use + " " + path.string() + ": the same file as " + known->second;
  }

 private:
  std::map<std::string, std::string> uses_;
};

std::optional<std::string> check_outputs(const ProveFiles& files) {
  KnownFiles known;
  known.add_input(files.zkey, "the proving key");
  for (const std::string& witness : files.wtns) known.add_input(witness, "a witness");
  for (std::size_t i = 0; i < files.wtns.size(); ++i) {
    const ProofFiles written = proof_files(files, i);
    if (auto wrong = known.add_output(written.proof, "the proof")) return wrong;
    if (auto wrong = known.add_output(written.inputs, "the public inputs")) return wrong;
  }
  if (!files.out.empty()) return known.add_output(compressed_file(files), "the compressed proof");
  return std::nullopt;
}

}  // namespace

ProofFiles proof_files(const ProveFiles& files, std::size_t index) {
  if (!files.positions.empty()) return {files.positions[2], files.positions[3]};
  const std::filesystem::path folder = files.out;
  if (files.wtns.size() == 1) return {folder / "proof.json", folder / "public.json"};
  const std::string number = std::to_string(index);
  return {folder / ("proof." + number + ".json"), folder / ("public." + number + ".json")};
}

std::filesystem::path compressed_file(const ProveFiles& files) {
  return std::filesystem::path(files.out) / "proof.bin";
}

std::optional<std::string> settle_files(ProveFiles& files) {
  const bool none = files.zkey.empty() && files.wtns.empty() && files.out.empty();
  const bool all = !files.zkey.empty() && !files.wtns.empty() && !files.out.empty();
  if (files.positions.empty() ? !all : (files.positions.size() != 4 || !none)) {
    return "expected --zkey, --wtns and --out, or ZKEY WTNS PROOF PUBLIC";
  }
  if (files.wtns.size() > kMaxPartitions) {
    return "--wtns: " + std::to_string(files.wtns.size()) + " witnesses, expected at most 256";
  }
  if (!files.positions.empty()) {
    files.zkey = files.positions[0];
    files.wtns = {files.positions[1]};
  }
  return check_outputs(files);
}

}  // namespace vitrine::engine
