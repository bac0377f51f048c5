// SPDX-License-Identifier: Apache-2.0
// vitrine-prove: proves one circuit for one or more witnesses, in an engine of its own.
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/exit_codes.h"
#include "engine/log_journal.h"
#include "engine/one_shot_prover.h"
#include "engine/program_arguments.h"
#include "engine/program_output.h"
#include "engine/progress_display.h"
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
  unsigned threads = 0;            // as many as this process may run on
  bool insecure = false;
  bool quiet = false;
  bool timings = false;
};

struct OutputFiles {
  std::filesystem::path proof, inputs;
};

void add_options(CLI::App& app, ProveOptions& options) {
  add_general_options(app, options.general);
  // The daemon's instance may be in the environment; this is another.
  app.get_option("--instance")->envname({})->description("instance, instead of prove-PID");
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

// Writes nothing unless all is proved.
Result<void> write_proofs(OneShotProver& prover, const ProveOptions& options) {
  for (std::uint32_t i = 0; i < options.wtns.size(); ++i) {
    const auto texts = prover.proof(i);
    const OutputFiles files = output_files(options, i);
    auto written = write_file_atomically(files.proof, texts->proof);
    if (written) written = write_file_atomically(files.inputs, texts->inputs);
    if (!written) return written;
  }
  return {};
}

OneShotRequest request_for(const ProveOptions& options, Journal* journal) {
  OneShotRequest request;
  request.zkey = options.zkey;
  request.wtns = {options.wtns.begin(), options.wtns.end()};
  request.insecure = options.insecure;
  request.threads = options.threads;
  request.instance = options.general.instance.empty() ? "prove-" + std::to_string(::getpid())
                                                      : options.general.instance;
  request.segment = options.general.segment;
  request.journal = journal;
  return request;
}

// Proves and writes; why it did not, otherwise.
std::optional<OneShotFailure> prove_and_write(const ProveOptions& options, Journal* journal) {
  if (auto ready = prepare_folder(options.out); !ready) {
    return OneShotFailure{kExitFailed, ready.error().text};
  }
  auto prover = OneShotProver::start(request_for(options, journal));
  if (!prover) return prover.error();
  {
    ProgressDisplay display(options.quiet ? ProgressStyle::kNone : progress_style_of_stderr(),
                            static_cast<std::uint32_t>(options.wtns.size()));
    if (auto failure = prover->wait(display, cancel_requested)) return failure;
  }
  if (auto written = write_proofs(*prover, options); !written) {
    return OneShotFailure{kExitFailed, written.error().text};
  }
  if (options.timings) {
    if (auto printed = print_output(prover->timings().table()); !printed) {
      return OneShotFailure{kExitFailed, printed.error().text};
    }
  }
  return std::nullopt;
}

int run(int argc, const char* const* argv) {
  ProveOptions options;
  CLI::App app("Makes Groth16 proofs from snarkjs' files.", "vitrine-prove");
  add_options(app, options);
  if (const auto code = parse_arguments(app, argc, argv)) return *code;
  if (const auto wrong = settle_files(options)) return report_failure(app, *wrong, kExitUsage);
  ::signal(SIGINT, request_cancel);
  ::signal(SIGTERM, request_cancel);
  // The progress says enough; the log is for who asks.
  std::optional<LogJournal> journal;
  if (app.count("--log-level") > 0) {
    journal.emplace(options.general.log_level, options.general.log_format);
  }
  const auto failure = prove_and_write(options, journal ? &*journal : nullptr);
  return failure ? report_failure(app, failure->text, failure->exit_code) : kExitDone;
}

}  // namespace
}  // namespace vitrine::engine

int main(int argc, char** argv) { return vitrine::engine::run(argc, argv); }
