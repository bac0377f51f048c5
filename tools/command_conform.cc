// SPDX-License-Identifier: Apache-2.0
#include <boost/json/serialize.hpp>
#include <memory>

#include "shm/clock.h"
#include "tools/conformance.h"
#include "tools/status_command.h"
#include "tools/stop_signal.h"

namespace vitrine::tools {
namespace {

constexpr std::uint64_t kLookEveryNs = 2'000'000;
constexpr std::uint64_t kDefaultForNs = 10'000'000'000;

struct ConformFlags {
  std::string instance;  // instead of --instance
  std::optional<std::uint64_t> for_ns;
  bool json = false;
};

Result<ExitCode> run_conform(const CommandContext& context, const ConformFlags& flags) {
  const Result<CommonFlags> common = with_instance(context.flags, flags.instance);
  if (!common) return common.error();
  const shm::Target target = target_of(*common, {});
  Conformance conformance(target);
  if (!conformance.begin()) {
    const shm::Observation& last = conformance.last();
    return Error(static_cast<ExitCode>(shm::exit_code_of(last)),
                 last.error ? last.error->text : last.verdict.reason);
  }
  StopSignal stop;
  const std::uint64_t end_ns = shm::monotonic_ns() + flags.for_ns.value_or(kDefaultForNs);
  bool is_there = conformance.look();
  while (is_there && shm::monotonic_ns() < end_ns && !stop.wait(kLookEveryNs)) {
    is_there = conformance.look();
  }
  conformance.finish();
  const std::string report =
      flags.json ? boost::json::serialize(conformance.json()) + "\n" : conformance.text();
  if (const Result<void> written = context.output.write(report); !written) return written.error();
  if (!conformance.conforms()) return ExitCode::kFailed;
  if (!is_there) {
    context.diagnostics.warn("the engine went away: " + conformance.last().verdict.reason);
    return static_cast<ExitCode>(shm::exit_code_of(conformance.last()));
  }
  return ExitCode::kOk;
}

}  // namespace

Command conform_command() {
  const auto flags = std::make_shared<ConformFlags>();
  return {"conform", "Whether an engine keeps the rules of the status plane",
          "0 conforms, 1 does not, 2 usage, 3 no such instance, 4 dead or exited, 5 not readable",
          [flags](FlagSet& set) {
            set.instance("name", flags->instance, "Name of the engine's instance");
            set.duration("--for", flags->for_ns, "Look for this long (10s)");
            set.toggle("--json", flags->json, "JSON and nothing else");
          },
          [flags](const CommandContext& context) { return run_conform(context, *flags); }};
}

}  // namespace vitrine::tools
