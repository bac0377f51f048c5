// SPDX-License-Identifier: Apache-2.0
// vitrine-genkey: development keys, from a circuit's constraints or for a synthetic circuit.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>

#include "engine/exit_codes.h"
#include "engine/key_generation.h"
#include "engine/program_arguments.h"
#include "engine/program_output.h"
#include "engine/proof_json.h"
#include "engine/synthetic_circuit.h"
#include "engine/text_file.h"
#include "engine/witness.h"
#include "shm/standard_streams.h"

namespace vitrine::engine {
namespace {

struct GenkeyOptions {
  GeneralOptions general;
  std::string r1cs, circuit, out;
  std::string curve = "bn128";
  unsigned log2 = 0;
  unsigned witnesses = 1;
  unsigned threads = std::max(1U, std::thread::hardware_concurrency());
  bool insecure = false;
};

void add_options(CLI::App& app, GenkeyOptions& options) {
  add_general_options(app, options.general);
  disown_engine_options(app);
  app.add_option("--r1cs", options.r1cs, "constraints of a circuit");
  app.add_option("--circuit", options.circuit, "a synthetic circuit instead")
      ->check(CLI::IsMember({"chain", "sha256", "poseidon-like"}));
  app.add_option("--log2", options.log2, "the synthetic circuit's domain has 2^LOG2 rows");
  app.add_option("--curve", options.curve, "the synthetic circuit's curve")
      ->check(CLI::IsMember({"bn128", "bls12381"}));
  app.add_option("--witnesses", options.witnesses, "different witnesses of the synthetic circuit")
      ->check(CLI::Range(1, 256));
  app.add_option("--out", options.out, "folder for the files");
  app.add_option("--threads", options.threads, "threads to compute with")
      ->check(CLI::Range(1, 1024));
  app.add_flag("--insecure", options.insecure, "yes, the key protects nothing");
}

// What is wrong with the arguments together, if anything.
std::optional<std::string> check_options(const GenkeyOptions& options) {
  if (options.r1cs.empty() == options.circuit.empty()) return "expected --r1cs or --circuit";
  if (options.out.empty()) return "expected --out";
  if (!options.insecure) {
    return "--insecure is missing: whoever makes such a key can forge proofs, so it has to be "
           "asked for";
  }
  if (options.circuit.empty()) {
    return options.log2 == 0 ? std::nullopt : std::optional("--log2: only for --circuit");
  }
  const unsigned min_log2 = min_log2_size(*circuit_kind_from_name(options.circuit));
  if (options.log2 < min_log2 || options.log2 > kMaxLog2Size) {
    return "--log2: expected " + std::to_string(min_log2) + " to " + std::to_string(kMaxLog2Size) +
           " for " + options.circuit;
  }
  return std::nullopt;
}

Result<void> write_key(const GenkeyOptions& options, const R1cs& r1cs) {
  kernels::ThreadPool threads(options.threads);
  const std::filesystem::path folder = options.out;
  auto key = write_development_key(folder / "circuit.zkey", r1cs, threads);
  if (!key) return key.error();
  return write_file_atomically(folder / "verification_key.json", verifying_key_to_json(*key));
}

std::filesystem::path witness_path(const GenkeyOptions& options, unsigned index) {
  const std::string number = options.witnesses == 1 ? "" : "." + std::to_string(index);
  return std::filesystem::path(options.out) / ("witness" + number + ".wtns");
}

Result<void> make_synthetic(const GenkeyOptions& options) {
  const CurveId id = *curve_from_name(options.curve);
  const CircuitKind kind = *circuit_kind_from_name(options.circuit);
  for (unsigned i = 0; i < options.witnesses; ++i) {
    const SyntheticCircuit circuit = with_curve(id, [&](auto curve) {
      return build_synthetic_circuit<typename decltype(curve)::type::Fr>(kind, options.log2, i);
    });
    auto written = write_witness(witness_path(options, i), id, circuit.witness);
    if (!written) return written;
    if (i > 0) continue;  // the constraints are the same for all
    written = write_r1cs(std::filesystem::path(options.out) / "circuit.r1cs", circuit.r1cs);
    if (written) written = write_key(options, circuit.r1cs);
    if (!written) return written;
  }
  return {};
}

Result<void> make_from_r1cs(const GenkeyOptions& options) {
  auto r1cs = read_r1cs(options.r1cs);
  if (!r1cs) return r1cs.error();
  return write_key(options, *r1cs);
}

int run(int argc, const char* const* argv) {
  GenkeyOptions options;
  CLI::App app("Makes development keys: quick, and insecure.", "vitrine-genkey");
  add_options(app, options);
  if (const auto code = parse_arguments(app, argc, argv)) return *code;
  if (const auto wrong = check_options(options)) return report_failure(app, *wrong, kExitUsage);
  std::error_code failure;
  std::filesystem::create_directories(options.out, failure);
  if (failure) {
    return report_failure(app, options.out + ": cannot be made: " + failure.message(), kExitFailed);
  }
  auto made = options.circuit.empty() ? make_from_r1cs(options) : make_synthetic(options);
  if (!made) return report_failure(app, made.error().text, kExitFailed);
  return finish_with_output(app, "wrote a development key (insecure) to " + options.out + "\n");
}

}  // namespace
}  // namespace vitrine::engine

int main(int argc, char** argv) {
  vitrine::shm::occupy_standard_streams();
  return vitrine::engine::run(argc, argv);
}
