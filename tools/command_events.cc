// SPDX-License-Identifier: Apache-2.0
#include <boost/json/serialize.hpp>
#include <climits>
#include <memory>

#include "shm/clock.h"
#include "shm/event_follower.h"
#include "shm/snapshot_json.h"
#include "tools/event_text.h"
#include "tools/status_command.h"
#include "tools/stop_signal.h"

namespace vitrine::tools {
namespace {

constexpr std::uint64_t kPollEveryNs = 50'000'000;
// A living engine looks after its segment once a second.
constexpr std::uint64_t kDamagePatienceNs = 5'000'000'000;

struct EventFlags {
  StatusFlags status;
  bool follow = false;
  std::optional<std::uint64_t> for_ns;
  std::optional<std::uint64_t> limit;
  std::optional<std::uint64_t> tail;
};

// Turns batches into lines; stops at the limit.
class EventPrinter {
 public:
  EventPrinter(const CommandContext& context, const EventFlags& flags)
      : context_(context), is_json_(flags.status.json), left_(flags.limit) {}

  std::string lines(const shm::EventFollower::Batch& batch, const shm::Snapshot& clock) {
    std::string out;
    if (!batch.new_incarnation.empty()) out += note("restart", batch.new_incarnation);
    if (batch.missed > 0) out += note("missed", batch.missed);
    for (const shm::Event& event : batch.events) {
      if (is_done()) break;
      out += is_json_ ? boost::json::serialize(shm::event_to_json(event, clock))
                      : event_text(event, clock);
      out += '\n';
      if (left_) --*left_;
    }
    return out;
  }
  bool is_done() const { return left_ == 0 || context_.output.is_closed(); }

 private:
  std::string note(std::string_view what, const std::string& incarnation) const {
    if (!is_json_) return "-- another engine: incarnation " + incarnation + "\n";
    return boost::json::serialize(
               boost::json::object{{"type", what}, {"incarnation", incarnation}}) +
           "\n";
  }
  std::string note(std::string_view what, std::uint64_t count) const {
    if (!is_json_)
      return "-- " + std::to_string(count) + " events missed: overwritten unread, or lost\n";
    return boost::json::serialize(boost::json::object{{"type", what}, {"count", count}}) + "\n";
  }

  const CommandContext& context_;
  bool is_json_;
  std::optional<std::uint64_t> left_;
};

// Writes portions that a pipe takes whole, so that a reader that stands still cannot keep a signal
// from ending the program.
Result<void> write_unless_stopped(Output& output, std::string_view text, StopSignal& stop) {
  while (!text.empty() && !output.is_closed()) {
    while (!output.is_ready()) {
      if (stop.wait(kPollEveryNs)) return {};
    }
    const std::string_view portion = text.substr(0, PIPE_BUF);
    if (const auto written = output.write(portion); !written) return written;
    text.remove_prefix(portion.size());
  }
  return {};
}

// Until a signal, the reader's end, the limit or the time. Says once when the engine dies.
Result<ExitCode> follow(const CommandContext& context, const EventFlags& flags,
                        shm::EventFollower& follower) {
  EventPrinter printer(context, flags);
  StopSignal stop;
  const std::uint64_t begin_ns = shm::monotonic_ns();
  std::uint64_t readable_ns = begin_ns;
  bool was_alive = true;
  while (true) {
    const shm::Result<shm::EventFollower::Batch> batch = follower.next();
    if (!batch) {
      const bool may_pass =
          follower.engine_lives() && shm::monotonic_ns() - readable_ns < kDamagePatienceNs;
      if (!may_pass) return reading_error(batch.error());
      if (stop.wait(kPollEveryNs)) return ExitCode::kOk;
      continue;
    }
    readable_ns = shm::monotonic_ns();
    const std::string lines = printer.lines(*batch, follower.clock());
    if (const auto written = write_unless_stopped(context.output, lines, stop); !written) {
      return written.error();
    }
    if (printer.is_done()) return ExitCode::kOk;
    if (flags.for_ns && shm::monotonic_ns() - begin_ns >= *flags.for_ns) return ExitCode::kOk;
    const bool is_alive = follower.engine_lives();
    if (was_alive && !is_alive && batch->events.empty()) {
      context.diagnostics.info("the engine is gone; waiting for the next one");
    }
    was_alive = is_alive;
    // Events that are already there need no wait, only a look for a signal.
    if (stop.wait(batch->events.empty() ? kPollEveryNs : 0)) return ExitCode::kOk;
  }
}

// What is there now; the exit code is the engine's.
Result<ExitCode> print_all(const CommandContext& context, const EventFlags& flags,
                           shm::EventFollower& follower) {
  EventPrinter printer(context, flags);
  const std::uint64_t newest = follower.clock().last_event_sequence;
  std::uint64_t reached = 0;
  // Once at least: that nothing is there may be the ring's damage.
  do {
    const shm::Result<shm::EventFollower::Batch> batch = follower.next();
    if (!batch) return reading_error(batch.error());
    const std::string lines = printer.lines(*batch, follower.clock());
    if (const auto written = context.output.write(lines); !written) {
      return written.error();
    }
    if (batch->events.empty()) break;
    reached = batch->events.back().sequence;
  } while (!printer.is_done() && reached < newest);
  shm::Attachment attachment(target_of(context.flags, flags.status));
  return static_cast<ExitCode>(shm::exit_code_of(attachment.observe_settled()));
}

Result<ExitCode> run_events(const CommandContext& context, const EventFlags& flags) {
  auto follower = shm::EventFollower::attach(target_of(context.flags, flags.status));
  if (!follower) {
    return with_neighbours(reading_error(follower.error()), context.flags, flags.status);
  }
  if (flags.tail) follower->skip_to_last(*flags.tail);
  return flags.follow || flags.for_ns ? follow(context, flags, *follower)
                                      : print_all(context, flags, *follower);
}

}  // namespace

Command events_command() {
  const auto flags = std::make_shared<EventFlags>();
  return {"events", "What happened, one event a line",
          std::string(kStatusExitCodes) + "; following ends in 0",
          [flags](FlagSet& set) {
            add_status_flags(set, flags->status);
            set.toggle("-f,--follow", flags->follow, "Go on with what happens next");
            set.duration("--for", flags->for_ns, "Follow for this long, then end");
            set.number("--limit", flags->limit, "End after this many events");
            set.number("--tail", flags->tail,
                       "Begin with the last so many of those that are there");
          },
          [flags](const CommandContext& context) { return run_events(context, *flags); }};
}

}  // namespace vitrine::tools
