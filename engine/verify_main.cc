// SPDX-License-Identifier: Apache-2.0
// vitrine-verify: checks one proof, from snarkjs' JSON files.
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "engine/exit_codes.h"
#include "engine/groth16.h"
#include "engine/program_arguments.h"
#include "engine/program_output.h"
#include "engine/proof_json.h"
#include "engine/text_file.h"
#include "shm/standard_streams.h"

namespace vitrine::engine {
namespace {

struct VerifyOptions {
  GeneralOptions general;
  std::string vkey, proof, inputs;
  std::vector<std::string> files;  // VKEY PUBLIC PROOF, in the habit of snarkjs
};

// What was said of a proof that was examined; of files that cannot be read, nothing was.
constexpr const char* kInvalid = "invalid: ";

template <class Parse>
auto parse_file(const std::string& path, Parse parse, const std::string& finding)
    -> decltype(parse(std::string_view())) {
  auto text = read_text_file(path, kMaxJsonBytes);
  if (!text) return text.error();
  auto parsed = parse(*text);
  if (!parsed) {
    return Error{parsed.error().error_class, finding + path + ": " + parsed.error().text};
  }
  return parsed;
}

Result<void> verify_files(const VerifyOptions& options) {
  auto key = parse_file(options.vkey, parse_verifying_key, "");
  if (!key) return key.error();
  auto inputs = parse_file(options.inputs, parse_public, kInvalid);
  if (!inputs) return inputs.error();
  auto proof = parse_file(options.proof, parse_proof, kInvalid);
  if (!proof) return proof.error();
  auto verified = verify(*key, *proof, *inputs);
  if (!verified) return Error{verified.error().error_class, kInvalid + verified.error().text};
  return verified;
}

// Takes the files from the flags or from the positions. False when it is neither or both.
bool settle_files(VerifyOptions& options) {
  const bool none = options.vkey.empty() && options.proof.empty() && options.inputs.empty();
  const bool all = !options.vkey.empty() && !options.proof.empty() && !options.inputs.empty();
  if (options.files.empty()) return all;
  if (options.files.size() != 3 || !none) return false;
  options.vkey = options.files[0];
  options.inputs = options.files[1];
  options.proof = options.files[2];
  return true;
}

int run(int argc, const char* const* argv) {
  VerifyOptions options;
  CLI::App app("Checks a Groth16 proof against a verifying key and public inputs.",
               "vitrine-verify");
  add_general_options(app, options.general);
  disown_engine_options(app);
  app.add_option("--vkey", options.vkey, "verification_key.json");
  app.add_option("--proof", options.proof, "proof.json");
  app.add_option("--public", options.inputs, "public.json");
  app.add_option("files", options.files, "VKEY PUBLIC PROOF, instead of the flags");
  if (const auto code = parse_arguments(app, argc, argv)) return *code;
  if (!settle_files(options)) {
    return report_failure(app, "expected --vkey, --proof and --public, or VKEY PUBLIC PROOF",
                          kExitUsage);
  }
  if (auto verified = verify_files(options); !verified) {
    return report_failure(app, verified.error().text, kExitFailed);
  }
  return finish_with_output(app, "valid\n");
}

}  // namespace
}  // namespace vitrine::engine

int main(int argc, char** argv) {
  vitrine::shm::occupy_standard_streams();
  return vitrine::engine::run(argc, argv);
}
