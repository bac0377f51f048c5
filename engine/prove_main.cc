// SPDX-License-Identifier: Apache-2.0
// vitrine-prove: proves one circuit for one or more witnesses, without a daemon.
#include <signal.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <filesystem>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "engine/cpu_backend.h"
#include "engine/program_arguments.h"
#include "engine/progress_display.h"
#include "engine/proof_json.h"
#include "engine/stage_timings.h"
#include "engine/text_file.h"

namespace vitrine::engine {
namespace {

std::atomic<bool> cancel_requested = false;  // set by the signal handler

void request_cancel(int) { cancel_requested.store(true, std::memory_order_relaxed); }

struct ProveOptions {
  GeneralOptions general;
  std::string zkey, out;
  std::vector<std::string> wtns;
  std::vector<std::string> files;  // ZKEY WTNS PROOF PUBLIC, in the habit of its peers
  unsigned threads = std::max(1U, std::thread::hardware_concurrency());
  bool insecure = false;
  bool quiet = false;
  bool timings = false;
};

struct OutputFiles {
  std::filesystem::path proof, inputs;
};

// Proves partition after partition with one key.
class OneShotProver {
 public:
  OneShotProver(const ProveOptions& options, ProgressDisplay& display)
      : options_(options), display_(display), threads_(options.threads) {}

  [[nodiscard]] Result<void> load() {
    ProvingKeyOptions key_options;
    key_options.insecure = options_.insecure;
    key_options.progress = [this](std::uint64_t done, std::uint64_t total) {
      display_.doing("loading the key, " + std::to_string(done * 100 / total) + " %");
    };
    auto key = timings_.measure(
        "load", [&] { return load_proving_key(options_.zkey, key_options, threads_); });
    if (!key) return key.error();
    key_ = std::move(*key);
    return {};
  }

  // Reads the witness, proves, verifies, and only then writes.
  [[nodiscard]] Result<void> prove(const std::string& wtns, const OutputFiles& out) {
    auto witness =
        timings_.measure("read witness", [&] { return read_witness(wtns, key_->shape); });
    if (!witness) return witness.error();
    const PublicInputs inputs = public_inputs_of(*witness, key_->shape);
    auto proof = run_stages(std::move(*witness));
    if (!proof) return Error{proof.error().error_class, wtns + ": " + proof.error().text};
    auto verified = timings_.measure(
        "verify", [&] { return backend_.verify(key_->verifying_key, *proof, inputs); });
    if (!verified) {
      return Error{ErrorClass::kVerifyFailed,
                   wtns +
                       ": the proof made does not verify: this witness does not satisfy the "
                       "circuit, or the key is damaged"};
    }
    auto written = write_file_atomically(out.proof, proof_to_json(*proof));
    if (!written) return written;
    return write_file_atomically(out.inputs, public_to_json(inputs));
  }

  [[nodiscard]] std::string timings_table() const { return timings_.table(); }

 private:
  Result<Proof> run_stages(Witness&& witness) {
    const StageContext context{threads_, cancel_requested};
    display_.doing("synthesizing");
    auto values = timings_.measure("synthesize",
                                   [&] { return backend_.synthesize(*key_, witness, context); });
    if (!values) return values.error();
    display_.doing("proving");
    auto started = timings_.measure("prove_start", [&] {
      return backend_.prove_start(*key_, std::move(witness), std::move(*values), context);
    });
    if (!started) return started.error();
    return timings_.measure(
        "prove_finish", [&] { return backend_.prove_finish(*key_, std::move(*started), context); });
  }

  const ProveOptions& options_;
  ProgressDisplay& display_;
  kernels::ThreadPool threads_;
  CpuBackend backend_;
  StageTimings timings_;
  std::shared_ptr<const ProvingKey> key_;
};

void add_options(CLI::App& app, ProveOptions& options) {
  add_general_options(app, options.general);
  app.add_option("--zkey", options.zkey, "proving key");
  app.add_option("--wtns", options.wtns, "witness; one partition each, repeat for more")
      ->take_all();
  app.add_option("--out", options.out, "folder for proof.json and public.json");
  app.add_option("--threads", options.threads, "threads to compute with")
      ->check(CLI::Range(1, 1024));
  app.add_flag("--insecure", options.insecure, "accept a key without a phase-2 contribution");
  app.add_flag("--quiet", options.quiet, "show no progress");
  app.add_flag("--timings", options.timings, "print how long each stage took");
  app.add_option("files", options.files, "ZKEY WTNS PROOF PUBLIC, instead of the flags");
}

// The files of partition `index`.
OutputFiles output_files(const ProveOptions& options, std::size_t index) {
  if (!options.files.empty()) return {options.files[2], options.files[3]};
  const std::filesystem::path folder = options.out;
  if (options.wtns.size() == 1) return {folder / "proof.json", folder / "public.json"};
  const std::string number = std::to_string(index);
  return {folder / ("proof." + number + ".json"), folder / ("public." + number + ".json")};
}

// Takes the files from the flags or from the positions; otherwise says what is wrong.
std::optional<std::string> settle_files(ProveOptions& options) {
  constexpr std::size_t kMaxPartitions = 256;
  const bool none = options.zkey.empty() && options.wtns.empty() && options.out.empty();
  const bool all = !options.zkey.empty() && !options.wtns.empty() && !options.out.empty();
  if (options.files.empty() ? !all : (options.files.size() != 4 || !none)) {
    return "expected --zkey, --wtns and --out, or ZKEY WTNS PROOF PUBLIC";
  }
  if (options.wtns.size() > kMaxPartitions) {
    return "--wtns: " + std::to_string(options.wtns.size()) + " witnesses, expected at most 256";
  }
  if (!options.files.empty()) {
    options.zkey = options.files[0];
    options.wtns = {options.files[1]};
  }
  return std::nullopt;
}

Result<void> prepare_folder(const std::string& folder) {
  std::error_code failure;
  if (!folder.empty()) std::filesystem::create_directories(folder, failure);
  if (failure) return bad_input(folder + ": cannot be made: " + failure.message());
  return {};
}

Result<void> prove_all(OneShotProver& prover, const ProveOptions& options,
                       ProgressDisplay& display) {
  auto ready = prepare_folder(options.out);
  if (ready) ready = prover.load();
  if (!ready) return ready;
  for (std::size_t i = 0; i < options.wtns.size(); ++i) {
    auto proved = prover.prove(options.wtns[i], output_files(options, i));
    if (!proved) return proved;
    display.step_done("proved and verified partition " + std::to_string(i + 1) + " of " +
                      std::to_string(options.wtns.size()));
  }
  return {};
}

int run(int argc, const char* const* argv) {
  ProveOptions options;
  CLI::App app("Makes Groth16 proofs from snarkjs' files.", "vitrine-prove");
  add_options(app, options);
  if (const auto code = parse_arguments(app, argc, argv)) return *code;
  if (const auto wrong = settle_files(options)) return report_failure(app, *wrong, kExitUsage);
  ::signal(SIGINT, request_cancel);
  ::signal(SIGTERM, request_cancel);

  Result<void> proved;
  std::string timings;
  {
    ProgressDisplay display(options.quiet ? ProgressStyle::kNone : progress_style_of_stderr(),
                            options.wtns.size());
    OneShotProver prover(options, display);
    proved = prove_all(prover, options, display);
    timings = prover.timings_table();
  }
  if (!proved) {
    const bool cancelled = proved.error().error_class == ErrorClass::kCancelled;
    return report_failure(app, proved.error().text, cancelled ? kExitCancelled : kExitFailed);
  }
  if (options.timings) std::cout << timings;
  return kExitDone;
}

}  // namespace
}  // namespace vitrine::engine

int main(int argc, char** argv) { return vitrine::engine::run(argc, argv); }
