// SPDX-License-Identifier: Apache-2.0
#include "engine/simulated_load.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <optional>
#include <random>

#include "engine/job.h"
#include "engine/quantities.h"
#include "engine/settings.h"
#include "engine/text_file.h"
#include "shm/strict_json.h"

namespace vitrine::engine {
namespace {

namespace json = boost::json;

constexpr std::size_t kFileMax = std::size_t{256} << 20;
constexpr std::size_t kLineDepthMax = 4;  // of a line
constexpr std::size_t kJobsMax = 1'000'000;
constexpr std::uint64_t kYearNs = std::uint64_t{366} * 24 * 3'600'000'000'000;

using Broken = std::optional<std::string>;  // the rule that is broken

// The settings that decide what the scheduler sees.
constexpr std::string_view kSettingsUsed[] = {
    "memory_budget",      "synthesis_concurrency", "workers_per_device", "device_queue_capacity",
    "job_queue_capacity", "key_loaders",           "eviction_min_idle",  "starvation_limit",
    "max_batch_size",     "max_batch_wait"};

// The members of one line, read one after the other; what is left over is unknown.
class Members {
 public:
  explicit Members(json::object object) : object_(std::move(object)) {}

  // A size or a duration as settings are written; also a plain number of bytes.
  Broken size(std::string_view name, std::uint64_t& bytes) {
    return take(name, [&](const json::value& value) -> Broken {
      const auto parsed = parse_size_bytes(text_of(value));
      if (!parsed) return "expected a size such as 512MiB or plain bytes";
      bytes = *parsed;
      return std::nullopt;
    });
  }
  Broken duration(std::string_view name, std::uint64_t& duration_ns) {
    return take(name, [&](const json::value& value) -> Broken {
      const auto parsed = parse_duration_ns(text_of(value));
      if (!parsed || *parsed > kYearNs) return "expected a duration such as 250ms, 5s or 10m";
      duration_ns = *parsed;
      return std::nullopt;
    });
  }
  Broken number(std::string_view name, std::uint64_t& number, std::uint64_t least,
                std::uint64_t most) {
    return take(name, [&](const json::value& value) -> Broken {
      json::error_code wrong;
      const auto parsed = value.to_number<std::uint64_t>(wrong);
      if (wrong || parsed < least || parsed > most) {
        return "expected a number from " + std::to_string(least) + " to " + std::to_string(most);
      }
      number = parsed;
      return std::nullopt;
    });
  }
  Broken word(std::string_view name, std::string& word) {
    return take(name, [&](const json::value& value) -> Broken {
      if (!value.is_string()) return "expected a text";
      word = std::string(value.get_string());
      return std::nullopt;
    });
  }
  Broken truth(std::string_view name, bool& truth) {
    return take(name, [&](const json::value& value) -> Broken {
      if (!value.is_bool()) return "expected true or false";
      truth = value.get_bool();
      return std::nullopt;
    });
  }
  [[nodiscard]] bool has(std::string_view name) const { return object_.contains(name); }
  [[nodiscard]] Broken end() const {
    if (object_.empty()) return std::nullopt;
    return "unknown member '" + std::string(object_.begin()->key()) + "'";
  }
  static std::string text_of(const json::value& value) {
    return value.is_string() ? std::string(value.get_string()) : json::serialize(value);
  }

 private:
  template <class Read>
  Broken take(std::string_view name, Read read) {
    const auto at = object_.find(name);
    if (at == object_.end()) return std::nullopt;
    const Broken broken = read(at->value());
    object_.erase(at);
    if (!broken) return std::nullopt;
    return std::string(name) + ": " + *broken;
  }

  json::object object_;
};

// The first that is broken.
Broken first_of(std::initializer_list<Broken> all) {
  for (const Broken& broken : all) {
    if (broken) return broken;
  }
  return std::nullopt;
}

class LoadReader {
 public:
  Broken read_line(std::string_view line) {
    const auto parsed = shm::parse_strict_json(line, kLineDepthMax);
    if (!parsed) return parsed.error().text;
    if (!parsed->is_object()) return "expected one JSON object";
    const json::object& object = parsed->get_object();
    if (const json::value* settings = object.if_contains("settings")) {
      if (object.size() != 1 || !settings->is_object()) return "settings: expected an object alone";
      return read_settings(settings->get_object());
    }
    Members members(object);
    if (members.has("devices")) return read_devices(members);
    if (members.has("circuit")) return read_circuit(members);
    if (members.has("job")) return read_job(members);
    if (members.has("jobs")) return read_stream(members);
    return "expected a member settings, devices, circuit, job or jobs";
  }

  Result<SimulatedLoad> finish(const std::string& name) {
    if (!load_.configuration.memory_budget_bytes) {
      return bad_input(name + ": settings: memory_budget is missing");
    }
    std::stable_sort(
        load_.jobs.begin(), load_.jobs.end(),
        [](const SimulatedJob& a, const SimulatedJob& b) { return a.at_ns < b.at_ns; });
    return std::move(load_);
  }

 private:
  Broken read_settings(const json::object& object) {
    for (const auto& member : object) {
      const std::string_view name = member.key();
      const bool is_used = std::ranges::find(kSettingsUsed, name) != std::end(kSettingsUsed);
      const Setting* setting = is_used ? find_setting(name) : nullptr;
      if (setting == nullptr) return "settings: '" + std::string(name) + "' is not simulated";
      const auto broken = setting->set(load_.configuration, Members::text_of(member.value()));
      if (broken) return "settings: " + std::string(name) + ": " + *broken;
      if (name == "memory_budget" && !load_.configuration.memory_budget_bytes) {
        return "settings: memory_budget: expected a size; auto is that of no host";
      }
    }
    return std::nullopt;
  }

  Broken read_devices(Members& members) {
    std::uint64_t devices = 1;
    const Broken broken = first_of({members.number("devices", devices, 1, 16), members.end()});
    load_.devices = static_cast<std::uint32_t>(devices);
    return broken;
  }

  Broken read_circuit(Members& members) {
    SimulatedCircuit circuit;
    const Broken broken = first_of(
        {members.word("circuit", circuit.id), members.size("key_bytes", circuit.key_bytes),
         members.size("partition_bytes", circuit.partition_bytes),
         members.size("freed_bytes", circuit.freed_bytes),
         members.duration("load", circuit.load_ns),
         members.duration("synthesize", circuit.synthesize_ns),
         members.duration("start", circuit.start_ns), members.duration("finish", circuit.finish_ns),
         members.duration("verify", circuit.verify_ns),
         members.truth("keep_resident", circuit.keep_resident), members.end()});
    if (broken) return broken;
    if (!is_circuit_id(circuit.id)) return "circuit: an id is 1 to 32 letters, digits, . _ and -";
    if (find_circuit(circuit.id)) return "circuit '" + circuit.id + "' is there already";
    if (load_.circuits.size() == kCircuitsMax) {
      return "at most " + std::to_string(kCircuitsMax) + " circuits";
    }
    if (circuit.freed_bytes > circuit.partition_bytes) {
      return "freed_bytes: more than partition_bytes";
    }
    load_.circuits.push_back(circuit);
    return std::nullopt;
  }

  // What `job` and `jobs` have in common.
  Broken read_kind(Members& members, std::string_view name, SimulatedJob& job) {
    std::string circuit, priority = "normal";
    std::uint64_t partitions = 1;
    const Broken broken = first_of(
        {members.word(name, circuit), members.number("partitions", partitions, 1, kPartitionsMax),
         members.word("priority", priority), members.duration("deadline", job.deadline_ns)});
    if (broken) return broken;
    const auto number = find_circuit(circuit);
    if (!number) return "no circuit '" + circuit + "' in the lines before";
    job.circuit = *number;
    job.partitions = static_cast<std::uint32_t>(partitions);
    for (const auto known : {shm::Priority::kLow, shm::Priority::kNormal, shm::Priority::kHigh,
                             shm::Priority::kCritical}) {
      if (priority != shm::word(known)) continue;
      job.priority = known;
      return std::nullopt;
    }
    return "priority: expected low, normal, high or critical";
  }

  Broken read_job(Members& members) {
    SimulatedJob job;
    const Broken broken = first_of(
        {read_kind(members, "job", job), members.duration("at", job.at_ns), members.end()});
    return broken ? broken : add(job);
  }

  // Jobs that come at equal times, or, with a seed, at random ones with that mean distance.
  Broken read_stream(Members& members) {
    SimulatedJob job;
    std::uint64_t count = 1, every_ns = 0, seed = 0;
    const bool is_random = members.has("seed");
    const Broken broken =
        first_of({read_kind(members, "jobs", job), members.duration("from", job.at_ns),
                  members.number("count", count, 1, kJobsMax), members.duration("every", every_ns),
                  members.number("seed", seed, 0, std::numeric_limits<std::uint64_t>::max()),
                  members.end()});
    if (broken) return broken;
    std::mt19937_64 random(seed);
    for (std::uint64_t i = 0; i < count; ++i) {
      if (const Broken full = add(job)) return full;
      // Drawn by hand: the library's distributions differ between systems.
      const double draw = (static_cast<double>(random() >> 11) + 0.5) * 0x1.0p-53;
      const double gap_ns = -std::log(draw) * static_cast<double>(every_ns);
      job.at_ns += is_random ? static_cast<std::uint64_t>(gap_ns) : every_ns;
      if (job.at_ns > kYearNs) return "the jobs come over more than a year";
    }
    return std::nullopt;
  }

  Broken add(const SimulatedJob& job) {
    if (load_.jobs.size() == kJobsMax) return "at most " + std::to_string(kJobsMax) + " jobs";
    load_.jobs.push_back(job);
    return std::nullopt;
  }

  std::optional<std::uint32_t> find_circuit(const std::string& id) const {
    for (std::uint32_t i = 0; i < load_.circuits.size(); ++i) {
      if (load_.circuits[i].id == id) return i;
    }
    return std::nullopt;
  }

  SimulatedLoad load_;
};

}  // namespace

Result<SimulatedLoad> parse_simulated_load(std::string_view text, const std::string& name) {
  LoadReader reader;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view content = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (content.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (const Broken broken = reader.read_line(content)) {
      return bad_input(name + " line " + std::to_string(line) + ": " + *broken);
    }
  }
  return reader.finish(name);
}

Result<SimulatedLoad> read_simulated_load(const std::filesystem::path& path) {
  auto text = read_text_file(path, kFileMax);
  if (!text) return text.error();
  return parse_simulated_load(*text, path.string());
}

}  // namespace vitrine::engine
