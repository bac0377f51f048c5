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
#include "engine/last_words.h"
#include "engine/log_journal.h"
#include "engine/one_shot_prover.h"
#include "engine/program_arguments.h"
#include "engine/program_output.h"
#include "engine/progress_display.h"
#include "engine/prove_files.h"
#include "engine/result_assembly.h"
#include "engine/text_file.h"
#include "shm/standard_streams.h"

namespace vitrine::engine {
namespace {

std::atomic<bool> cancel_requested = false;  // set by the signal handler

void request_cancel(int) { cancel_requested.store(true, std::memory_order_relaxed); }

struct ProveOptions {
  GeneralOptions general;
  ProveFiles files;
  unsigned threads = 0;  // as many as this process may run on
  bool insecure = false;
  bool quiet = false;
  bool timings = false;
};

void add_options(CLI::App& app, ProveOptions& options) {
  add_general_options(app, options.general);
  // The daemon's instance may be in the environment; this is another.
  app.get_option("--instance")->envname({})->description("instance, instead of prove-PID");
  app.add_option("--zkey", options.files.zkey, "proving key");
  app.add_option("--wtns", options.files.wtns, "witness; one partition each, repeat for more")
      ->take_all();
  app.add_option("--out", options.files.out,
                 "folder for proof.json and public.json; for bls12381 also proof.bin");
  app.add_option("--threads", options.threads, "threads to compute with")
      ->check(CLI::Range(1, 1024));
  app.add_flag("--insecure", options.insecure, "accept a key without a phase-2 contribution");
  app.add_flag("--quiet", options.quiet, "show no progress");
  app.add_flag("--timings", options.timings, "print how long each stage took");
  app.add_option("files", options.files.positions, "ZKEY WTNS PROOF PUBLIC, instead of the flags");
}

Result<void> prepare_folder(const std::string& folder) {
  std::error_code failure;
  if (!folder.empty()) std::filesystem::create_directories(folder, failure);
  if (failure) return bad_input(folder + ": cannot be made: " + failure.message());
  return {};
}

// Writes nothing unless all is proved.
Result<void> write_proofs(OneShotProver& prover, const ProveOptions& options) {
  std::vector<std::shared_ptr<const ProofTexts>> proofs;
  for (std::uint32_t i = 0; i < options.files.wtns.size(); ++i) {
    const auto texts = prover.proof(i);
    const ProofFiles files = proof_files(options.files, i);
    auto written = write_file_atomically(files.proof, texts->proof);
    if (written) written = write_file_atomically(files.inputs, texts->inputs);
    if (!written) return written;
    proofs.push_back(texts);
  }
  const auto compressed = compressed_result(proofs);
  const bool has_place = !options.files.out.empty();
  if (!compressed || !has_place) return {};
  return write_file_atomically(compressed_file(options.files), *compressed);
}

OneShotRequest request_for(const ProveOptions& options, Journal* journal) {
  OneShotRequest request;
  request.zkey = options.files.zkey;
  request.wtns = {options.files.wtns.begin(), options.files.wtns.end()};
  request.insecure = options.insecure;
  request.threads = options.threads;
  request.instance = options.general.instance.empty() ? "prove-" + std::to_string(::getpid())
                                                      : options.general.instance;
  request.segment = options.general.segment;
  request.journal = journal;
  return request;
}

// A proof without a reader of its progress is a proof all the same, but whoever looks for the
// instance must know why it is not there.
void tell_not_shared(const CLI::App& app, const ProveOptions& options, const Journal* journal,
                     const std::string& reason) {
  const bool is_logged = journal != nullptr;
  if (!reason.empty() && !options.quiet && !is_logged) print_line(app, "warning: " + reason);
}

// Proves and writes; why it did not, otherwise.
std::optional<OneShotFailure> prove_and_write(const CLI::App& app, const ProveOptions& options,
                                              Journal* journal) {
  if (auto ready = prepare_folder(options.files.out); !ready) {
    return OneShotFailure{kExitFailed, ready.error().text};
  }
  auto prover = OneShotProver::start(request_for(options, journal));
  if (!prover) return prover.error();
  tell_not_shared(app, options, journal, prover->why_not_shared());
  {
    ProgressDisplay display(options.quiet ? ProgressStyle::kNone : progress_style_of_stderr(),
                            static_cast<std::uint32_t>(options.files.wtns.size()));
    if (auto failure = prover->wait(display, cancel_requested)) return failure;
  }
  // A pipe that is full may hold up the writing: from here a signal just ends the program.
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGTERM, SIG_DFL);
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
  if (const auto wrong = settle_files(options.files))
    return report_failure(app, *wrong, kExitUsage);
  ::signal(SIGINT, request_cancel);
  ::signal(SIGTERM, request_cancel);
  ::signal(SIGPIPE, SIG_IGN);  // a reader that left is told at the write
  // The progress says enough; the log is for who asks.
  std::optional<LogJournal> journal;
  if (app.count("--log-level") > 0) {
    journal.emplace(options.general.log_level, options.general.log_format, 0);
  }
  const auto failure = prove_and_write(app, options, journal ? &*journal : nullptr);
  return failure ? report_failure(app, failure->text, failure->exit_code) : kExitDone;
}

}  // namespace
}  // namespace vitrine::engine

int main(int argc, char** argv) {
  vitrine::shm::occupy_standard_streams();
  vitrine::engine::install_last_words();
  return vitrine::engine::run(argc, argv);
}
