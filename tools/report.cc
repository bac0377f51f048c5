// SPDX-License-Identifier: Apache-2.0
#include "tools/report.h"

#include <gnu/libc-version.h>
#include <sys/utsname.h>

#include <boost/json/serialize.hpp>
#include <limits>

#include "shm/clock.h"
#include "shm/layout.h"
#include "shm/snapshot_json.h"
#include "shm/time_text.h"
#include "tools/black_box.h"
#include "tools/bounded_file.h"
#include "tools/doctor.h"
#include "tools/program_output.h"
#include "tools/redaction.h"
#include "tools/segment_copy.h"
#include "tools/show_screen.h"

namespace vitrine::tools {
namespace {

constexpr std::uint64_t kAnswerWithinNs = 5'000'000'000;
constexpr std::size_t kOutputBytesMax = std::size_t{1} << 20;

// The value of the first line `name   : value` of a file of /proc.
std::string proc_value(const std::filesystem::path& file, std::string_view name) {
  const std::string text = "\n" + read_bounded(file, 65'536).value_or("");
  const std::size_t at = text.find("\n" + std::string(name));
  if (at == std::string::npos) return "unknown";
  const std::string line = text.substr(at + 1, text.find('\n', at + 1) - at - 1);
  const std::size_t value = line.find_first_not_of(" \t", line.find(':') + 1);
  return value == std::string::npos ? "unknown" : line.substr(value);
}

std::string versions_text(const shm::Observation& observation) {
  utsname system{};
  ::uname(&system);
  const shm::SegmentIdentity& engine = observation.identity;
  std::string out = "taken      " + shm::rfc3339_ms(shm::unix_ns()) + "\n";
  out += "vitrine    " VITRINE_VERSION ", layout " + std::to_string(shm::kMajorVersion) + "." +
         std::to_string(shm::kMinorVersion) + "\n";
  out += "engine     " + (engine.engine_version.empty() ? "unknown" : engine.engine_version) +
         ", layout " + std::to_string(engine.major) + "." + std::to_string(engine.minor) + "\n";
  out += "kernel     " + std::string(system.sysname) + " " + system.release + " " + system.machine +
         "\n";
  out += "libc       " + std::string(::gnu_get_libc_version()) + "\n";
  out += "processor  " + proc_value("/proc/cpuinfo", "model name") + "\n";
  return out + "memory     " + proc_value("/proc/meminfo", "MemTotal") + "\n";
}

// The program beside this one, as `vitrine NAME` looks for it.
std::string daemon_program() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto beside = self.parent_path() / "vitrined";
  return !error && std::filesystem::exists(beside, error) ? beside.string() : "vitrined";
}

void add_output(Report& report, const std::string& name,
                const std::vector<std::string>& arguments) {
  const Result<std::string> output = output_of_program(arguments, kAnswerWithinNs, kOutputBytesMax);
  if (output && output->empty()) {
    report.missing.push_back(name + ": " + arguments[0] + " has nothing to say");
  } else if (output) {
    report.files.push_back({name, redacted(*output)});
  } else {
    report.missing.push_back(name + ": " + output.error().text);
  }
}

std::string events_text(const LastEvents& last, const shm::Snapshot& clock) {
  std::string out;
  for (const shm::Event& event : last.events) {
    out += boost::json::serialize(shm::event_to_json(event, clock)) + "\n";
  }
  return out;
}

void add_state(Report& report, shm::Attachment& attachment) {
  const shm::Observation& observation = attachment.last();
  report.files.push_back(
      {"snapshot.json", boost::json::serialize(shm::to_json(observation)) + "\n"});
  if (!observation.snapshot) {
    const std::string why = observation.error ? observation.error->text : "nothing was read";
    report.missing.push_back("segment: " + why);
    return;
  }
  report.files.push_back({"show.txt", show_screen(View(observation, {}))});
  const LastEvents last = read_last_events(attachment, observation.identity.event_capacity);
  if (last.problem.empty()) {
    report.files.push_back({"events.jsonl", events_text(last, *observation.snapshot)});
  } else {
    report.missing.push_back("events.jsonl: " + last.problem);
  }
  Result<std::string> segment = copy_segment(attachment);
  if (segment) {
    report.files.push_back({"segment", std::move(*segment)});
  } else {
    report.missing.push_back("segment: " + segment.error().text);
  }
}

std::optional<std::filesystem::path> segment_asked_for(const CommonFlags& flags) {
  if (flags.segment.empty()) return std::nullopt;
  return flags.segment;
}

}  // namespace

std::string reported_instance(const shm::Observation& observation, const CommonFlags& flags) {
  const std::string& told = observation.identity.instance;
  return shm::is_instance_name(told) ? told : flags.instance;
}

Report make_report(shm::Attachment& attachment, const CommonFlags& flags) {
  Report report;
  add_state(report, attachment);
  report.files.push_back({"versions.txt", versions_text(attachment.last())});
  const Findings findings = examine_host(segment_asked_for(flags), flags.attach);
  report.files.push_back({"doctor.txt", findings_text(findings, {})});
  // What a start would use now; the engine that is looked at may have started with another.
  add_output(report, "configuration.toml",
             {daemon_program(), "--instance", reported_instance(attachment.last(), flags),
              "--print-config"});
  add_output(report, "log.txt",
             {"journalctl", "--quiet", "--no-pager", "--lines=500", "--output=short-iso",
              "_COMM=vitrined"});
  std::string missing;
  for (const std::string& line : report.missing) {
    missing += printable(line, Charset::kUtf8) + "\n";
  }
  if (!missing.empty()) report.files.push_back({"missing.txt", missing});
  return report;
}

}  // namespace vitrine::tools
