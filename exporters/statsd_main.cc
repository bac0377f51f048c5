// SPDX-License-Identifier: Apache-2.0
// vitrine-statsd: one engine's metrics as StatsD lines, in datagrams.
//
// Exit     0 stopped by a signal, after a last flush, 1 the system refused, 2 usage.
#include <csignal>
#include <ctime>

#include "exporters/datagram_packer.h"
#include "exporters/engine_metrics.h"
#include "exporters/program_frame.h"
#include "exporters/program_log.h"
#include "exporters/statsd_options.h"
#include "exporters/watched_engine.h"
#include "shm/standard_streams.h"

namespace vitrine::exporters {
namespace {

constexpr const char* kName = "vitrine-statsd";

// Sends, and says once when sending begins to fail and when it works again.
class Sender {
 public:
  Sender(const StatsdOptions& options, std::shared_ptr<spdlog::logger> log)
      : options_(options),
        log_(std::move(log)),
        socket_(options.to),
        engine_(options.target, std::uint64_t{0}) {}

  void flush() {
    if (!socket_.has_address()) return note("the name is not resolved");
    const auto moment = engine_.moment();
    MetricFamilies families;
    add_engine_metrics(families, moment->observation);
    const bool is_there = !is_gone(moment->observation);
    if (is_there) deltas_.begin_flush(moment->observation.identity.incarnation);
    const PackedLines packed = pack_lines(statsd_lines(families, options_.style, deltas_));
    too_long_ += packed.too_long;
    std::string fault;
    for (const std::string& datagram : packed.datagrams) {
      if (const auto why = socket_.send(datagram)) {
        ++failed_;
        fault = *why;
      }
    }
    note(fault);
  }

  void say_end() const {
    log_->info("stopping: {} sends failed, {} counters fell, {} lines were too long", failed_,
               deltas_.falls(), too_long_);
  }

 private:
  void note(const std::string& fault) {
    if (fault.empty() == fault_.empty()) return;
    fault_ = fault;
    if (fault.empty()) {
      log_->info("the server is back; {} sends failed so far", failed_);
    } else {
      log_->warn("cannot send: {}", fault);
    }
  }

  const StatsdOptions& options_;
  std::shared_ptr<spdlog::logger> log_;
  DatagramSocket socket_;
  WatchedEngine engine_;
  CounterDeltas deltas_;
  std::string fault_;
  std::uint64_t failed_ = 0;
  std::uint64_t too_long_ = 0;
};

Result<void> send_until_stopped(const StatsdOptions& options) {
  const sigset_t stop = block_signals({SIGTERM, SIGINT});
  const auto log = make_program_log(kName, options.log_level, options.log_format);
  Sender sender(options, log);
  const timespec tick{options.interval_ms / 1'000, options.interval_ms % 1'000 * 1'000'000L};
  do {
    sender.flush();
  } while (sigtimedwait(&stop, nullptr, &tick) < 0);
  sender.flush();
  sender.say_end();
  return {};
}

int run(int argc, const char* const* argv) {
  const auto options = parse_statsd_options(argc, argv);
  if (!options) return end_program(kName, options.error());
  if (const auto* text = std::get_if<PrintedText>(&*options)) {
    return end_program(kName, print(text->text));
  }
  return end_program(kName, send_until_stopped(std::get<StatsdOptions>(*options)));
}

}  // namespace
}  // namespace vitrine::exporters

int main(int argc, char** argv) {
  vitrine::shm::occupy_standard_streams();
  return vitrine::exporters::run(argc, argv);
}
