// SPDX-License-Identifier: Apache-2.0
// vitrined: the proving daemon. Reads its configuration, starts the engine and its API, and waits
// for a signal to drain and end.
//
// Threads: the main thread takes the signals; all others have them blocked.
#include <signal.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdlib>
#include <future>
#include <optional>

#include "engine/api_server.h"
#include "engine/configuration_check.h"
#include "engine/configuration_reload.h"
#include "engine/configuration_sources.h"
#include "engine/engine.h"
#include "engine/engine_start.h"
#include "engine/exit_codes.h"
#include "engine/job_store.h"
#include "engine/last_words.h"
#include "engine/log_journal.h"
#include "engine/program_arguments.h"
#include "engine/program_output.h"
#include "engine/quantities.h"
#include "engine/runtime_folder.h"
#include "engine/service_reports.h"
#include "engine/simulation.h"
#include "engine/state_folder.h"
#include "engine/vitrined_options.h"
#include "shm/owner_lock_writer.h"
#include "shm/paths.h"
#include "shm/segment_plan_writer.h"
#include "shm/standard_streams.h"

namespace vitrine::engine {
namespace {

constexpr const char* kNoCircuit = "no circuit is configured";

// The signals that an engine obeys, blocked in every thread and taken by one.
class Signals {
 public:
  Signals() {
    ::signal(SIGPIPE, SIG_IGN);
    ::sigemptyset(&signals_);
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&signals_, number);
    ::pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  }

  // The next signal; none after `patience`.
  std::optional<int> arrive_within(std::chrono::milliseconds patience) const {
    const timespec limit{patience.count() / 1000, patience.count() % 1000 * 1'000'000};
    const int number = ::sigtimedwait(&signals_, nullptr, &limit);
    return number > 0 ? std::optional(number) : std::nullopt;
  }

 private:
  sigset_t signals_{};
};

// Where an engine has its things whose configuration does not say.
void settle_places(Configuration& configuration) {
  if (configuration.segment.empty()) {
    configuration.segment = shm::default_segment_path(configuration.instance);
  }
  if (configuration.socket.empty()) {
    configuration.socket = shm::default_socket_path(configuration.instance);
  }
  if (configuration.spool_directory.empty()) {
    configuration.spool_directory = state_folder(configuration.instance) / "spool";
  }
  if (configuration.job_store.empty()) {
    configuration.job_store = state_folder(configuration.instance) / "jobs.db";
  }
}

ResultLimits result_limits(const Configuration& configuration) {
  ResultLimits limits;
  limits.retention_ns = configuration.result_retention_ns;
  limits.bytes = configuration.result_limit_bytes;
  return limits;
}

// The engine with its socket, from ready to closed.
class Daemon {
 public:
  Daemon(const CLI::App& app, ConfigurationRequest request, const LoadedConfiguration& loaded)
      : app_(app),
        loaded_(loaded),
        configuration_(loaded.configuration),
        reload_({std::move(request), settle_places, [this] { reports_.reloading(); },
                 [this] { reports_.ready(); }},
                loaded),
        journal_(configuration_.log_level, configuration_.log_format, configuration_.log_limit) {}

  int run(const Signals& signals) {
    if (const auto failure = take_places()) return report(*failure);
    EngineOptions options;
    options.configuration = configuration_;
    options.journal = &journal_;
    options.api_socket = configuration_.socket;
    options.settings = loaded_.in_effect();
    options.spool = spool_.get();
    options.process_bytes = process_bytes();
    if (const auto failure = take_up(options)) return report(*failure);
    auto started = Engine::start(std::move(options));
    if (!started) return report(started.error());
    engine_ = std::move(*started);
    if (const auto failure = open_api()) {
      (void)engine_->drain(std::chrono::steady_clock::now());
      engine_->close(exit_code_of(failure->kind));
      return report(*failure);
    }
    engine_->declare_ready();
    tell_where();
    tell_no_circuit();
    reports_.ready();
    serve(signals);
    return drain(signals);
  }

 private:
  // Until the engine is told to end.
  void serve(const Signals& signals) {
    while (!drain_requested_) {
      const auto signal = signals.arrive_within(std::chrono::milliseconds(100));
      tell_now_and_then();
      settle_reload();
      if (!signal) continue;
      if (*signal == SIGHUP) {
        begin_reload();
        continue;
      }
      engine_->note_signal(*signal);
      return;
    }
  }

  // On a thread of its own: keys may lie on a file system that hangs, and signals and the watchdog
  // are still looked after.
  void begin_reload() {
    is_reload_due_ = reloading_.valid();
    if (is_reload_due_) return;
    reloading_ = std::async(std::launch::async, [this] { (void)reload(); });
  }

  void settle_reload() {
    if (!reloading_.valid()) return;
    if (reloading_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
    reloading_.get();
    if (is_reload_due_) begin_reload();
  }

  // By a signal or over the API; what became of it is in the log.
  Result<ReloadReport> reload() {
    return reload_.perform(engine_->control(), [this](const Configuration& next) {
      journal_.set_level(next.log_level);
      routes_->set_witness_directories(next.witness_directories);
      if (store_) store_->set_limits(result_limits(next));
    });
  }

  int report(const StartFailure& failure) const {
    return report_failure(app_, failure.text, exit_code_of(failure.kind));
  }

  // Everything of which there may be one engine only, before the engine takes the place of the
  // predecessor's segment: a start that is refused must not push out a black box.
  std::optional<StartFailure> take_places() {
    const auto lock_file = shm::instance_lock_path(configuration_.instance);
    if (auto done = prepare_runtime_folder(lock_file.parent_path()); !done) return done.error();
    auto instance = shm::OwnerLock::take(lock_file, shm::Owned::kInstance,
                                         "instance " + configuration_.instance);
    if (!instance) return start_failure_of(instance.error());
    instance_lock_ = std::move(*instance);
    auto spool = Spool::open(configuration_.spool_directory, configuration_.spool_limit_bytes);
    if (!spool) return spool.error();
    spool_ = std::move(*spool);
    if (auto failure = open_store()) return failure;
    auto socket = ApiSocket::listen(configuration_.socket, configuration_.socket_group);
    if (!socket) return socket.error();
    socket_.emplace(std::move(*socket));
    return std::nullopt;
  }

  std::optional<StartFailure> open_store() {
    if (configuration_.durability == "none") return std::nullopt;
    auto store = JobStore::open(configuration_.job_store, result_limits(configuration_));
    if (!store) return store.error();
    store_ = std::move(*store);
    return std::nullopt;
  }

  // The last thing before the engine starts, since each job counts one more attempt.
  std::optional<StartFailure> take_up(EngineOptions& options) {
    if (!store_) {
      spool_->remove_orphans();
      return std::nullopt;
    }
    auto resumed = take_up_jobs(*store_, *spool_, configuration_.job_attempts);
    if (!resumed) {
      return StartFailure{
          StartFailure::Kind::kRuntime,
          "job_store " + configuration_.job_store.string() + ": " + resumed.error().text};
    }
    options.store = store_.get();
    options.resumed = std::move(*resumed);
    return std::nullopt;
  }

  std::optional<StartFailure> open_api() {
    routes_.emplace(
        *engine_, configuration_, [this] { drain_requested_ = true; }, [this] { return reload(); });
    ApiServer::Limits limits;
    limits.upload_bytes = configuration_.upload_limit_bytes;
    auto server = ApiServer::start(
        std::move(*socket_), *routes_, *spool_, limits, [this](const std::string& detail) {
          engine_->control().log("API crowded", detail, JournalLevel::kWarn);
        });
    if (!server) return StartFailure{StartFailure::Kind::kRuntime, server.error().text};
    server_ = std::move(*server);
    return std::nullopt;
  }

  void tell_where() {
    JournalEntry entry;
    entry.what = "listening";
    entry.detail = "instance " + configuration_.instance + ", socket " +
                   configuration_.socket.string() + ", segment " +
                   (engine_->is_shared() ? engine_->segment().path().string() : "none");
    journal_.write(entry);
  }

  void tell_no_circuit() {
    if (!configuration_.circuits.empty()) return;
    JournalEntry entry;
    entry.level = JournalLevel::kWarn;
    entry.what = kNoCircuit;
    journal_.write(entry);
  }

  void tell_now_and_then() {
    reports_.renew(*engine_, ServiceReports::Clock::now());
    journal_.tell_left_out();
  }

  int drain(const Signals& signals) {
    const std::uint64_t patience_ns = reload_.in_effect()->configuration.drain_timeout_ns;
    reports_.stopping(patience_ns / 1000 + 15'000'000);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::nanoseconds(patience_ns);
    std::future<bool> drained =
        std::async(std::launch::async, [&] { return engine_->drain(deadline); });
    while (drained.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      const auto signal = signals.arrive_within(std::chrono::milliseconds(20));
      if (signal && *signal != SIGHUP) engine_->hurry();
      tell_now_and_then();
    }
    if (!drained.get()) {
      engine_->close_unfinished(kExitDone);
      std::_Exit(kExitDone);
    }
    server_.reset();
    engine_->close(kExitDone);
    const bool is_reloading = reloading_.valid() && reloading_.wait_for(std::chrono::seconds(1)) !=
                                                        std::future_status::ready;
    if (is_reloading) std::_Exit(kExitDone);
    return kExitDone;
  }

  const CLI::App& app_;
  const LoadedConfiguration& loaded_;
  const Configuration& configuration_;  // of the start
  ConfigurationReload reload_;
  LogJournal journal_;
  ServiceReports reports_;
  std::future<void> reloading_;  // not valid: no signal asked for one
  bool is_reload_due_ = false;   // another signal came meanwhile
  std::optional<shm::OwnerLock> instance_lock_;
  std::optional<ApiSocket> socket_;  // until the server has it
  std::unique_ptr<Spool> spool_;     // outlives the witnesses that the engine holds
  std::unique_ptr<JobStore> store_;  // null when nothing is to be durable
  std::unique_ptr<Engine> engine_;
  std::atomic<bool> drain_requested_{false};
  std::optional<ApiRoutes> routes_;
  std::unique_ptr<ApiServer> server_;
};

int check_start(const CLI::App& app, const Configuration& configuration) {
  const std::vector<std::string> complaints = start_complaints(configuration);
  for (const std::string& complaint : complaints) print_line(app, complaint);
  if (!complaints.empty()) return kExitUsage;
  const std::size_t circuits = configuration.circuits.size();
  const std::string count = circuits == 0   ? std::string(kNoCircuit)
                            : circuits == 1 ? "1 circuit"
                                            : std::to_string(circuits) + " circuits";
  return finish_with_output(app, "the configuration is good: " + count + ", a segment of " +
                                     size_text(shm::plan_segment({}).total_bytes) + "\n");
}

int simulate_file(const CLI::App& app, const VitrinedOptions& options) {
  const auto load = read_simulated_load(options.simulation());
  if (!load) return report_failure(app, load.error().text, kExitUsage);
  const SimulationResult result = simulate(*load);
  return finish_with_output(
      app, options.wants_json() ? simulation_json(*load, result) : simulation_text(*load, result));
}

int run(int argc, const char* const* argv) {
  CLI::App app("Proves Groth16 circuits and shows everything it does in shared memory.",
               "vitrined");
  const VitrinedOptions options(app);
  if (const auto code = parse_arguments(app, argc, argv)) return *code;
  if (!options.simulation().empty()) return simulate_file(app, options);
  auto loaded = load_configuration(options.request());
  if (!loaded) return report_failure(app, loaded.error().text, kExitUsage);
  Configuration& configuration = loaded->configuration;
  settle_places(configuration);
  if (options.wants_print()) return finish_with_output(app, loaded->to_toml());
  if (options.wants_check()) return check_start(app, configuration);
  const Signals signals;
  return Daemon(app, options.request(), *loaded).run(signals);
}

}  // namespace
}  // namespace vitrine::engine

int main(int argc, char** argv) {
  vitrine::shm::occupy_standard_streams();
  vitrine::engine::install_last_words();
  return vitrine::engine::run(argc, argv);
}
