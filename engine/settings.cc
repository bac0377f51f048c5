// SPDX-License-Identifier: Apache-2.0
#include "engine/settings.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>

#include "engine/quantities.h"

namespace vitrine::engine {
namespace {

using Broken = std::optional<std::string>;

constexpr std::string_view kCircuitIdCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
constexpr std::string_view kKindCharacters = "abcdefghijklmnopqrstuvwxyz0123456789_-";

bool is_word(std::string_view text, std::size_t length_max, std::string_view characters) {
  return !text.empty() && text.size() <= length_max &&
         text.find_first_not_of(characters) == std::string_view::npos;
}

template <auto kMember, std::uint32_t kLeast, std::uint32_t kMost>
Broken set_number(Configuration& configuration, std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (!is_number || number < kLeast || number > kMost) {
    return "expected a number from " + std::to_string(kLeast) + " to " + std::to_string(kMost);
  }
  configuration.*kMember = number;
  return std::nullopt;
}

template <auto kMember>
std::string show_number(const Configuration& configuration) {
  return std::to_string(configuration.*kMember);
}

Broken read_switch(bool& value, std::string_view text) {
  if (text != "true" && text != "false") return "expected true or false";
  value = text == "true";
  return std::nullopt;
}

template <auto kMember>
Broken set_switch(Configuration& configuration, std::string_view text) {
  return read_switch(configuration.*kMember, text);
}

template <auto kMember>
std::string show_switch(const Configuration& configuration) {
  return configuration.*kMember ? "true" : "false";
}

Broken read_size(std::uint64_t& value, std::string_view text) {
  const auto bytes = parse_size_bytes(text);
  if (!bytes) return "expected a size such as 512MiB, 1.5GiB or plain bytes";
  value = *bytes;
  return std::nullopt;
}

Broken read_digest(std::string& digest, std::string_view text) {
  constexpr std::string_view kHexadecimal = "0123456789abcdefABCDEF";
  if (!text.empty() && (text.size() != 64 || !is_word(text, 64, kHexadecimal))) {
    return "expected a SHA-256: 64 hexadecimal digits";
  }
  digest = text;
  std::transform(digest.begin(), digest.end(), digest.begin(), ::tolower);
  return std::nullopt;
}

Broken read_priority(shm::Priority& priority, std::string_view text) {
  const auto named = priority_from(text);
  if (!named) return "expected low, normal, high or critical";
  priority = *named;
  return std::nullopt;
}

// A limit of nothing would refuse everything.
Broken read_limit(std::uint64_t& value, std::string_view text) {
  if (const auto broken = read_size(value, text)) return broken;
  if (value == 0) return "expected more than 0 bytes";
  return std::nullopt;
}

template <auto kMember>
Broken set_limit(Configuration& configuration, std::string_view text) {
  return read_limit(configuration.*kMember, text);
}

template <auto kMember>
Broken set_size(Configuration& configuration, std::string_view text) {
  return read_size(configuration.*kMember, text);
}

template <auto kMember>
std::string show_size(const Configuration& configuration) {
  return size_setting(configuration.*kMember);
}

template <auto kMember>
Broken set_duration(Configuration& configuration, std::string_view text) {
  const auto duration_ns = parse_duration_ns(text);
  if (!duration_ns) return "expected a duration such as 250ms, 5s or 10m";
  configuration.*kMember = *duration_ns;
  return std::nullopt;
}

Broken read_timeout(std::uint64_t& value, std::string_view text) {
  const auto duration_ns = parse_duration_ns(text);
  if (!duration_ns || *duration_ns == 0) return "expected a duration such as 250ms, 5s or 10m";
  value = *duration_ns;
  return std::nullopt;
}

template <auto kMember>
std::string show_duration(const Configuration& configuration) {
  return duration_setting(configuration.*kMember);
}

template <auto kMember>
Broken set_text(Configuration& configuration, std::string_view text) {
  configuration.*kMember = text;
  return std::nullopt;
}

template <auto kMember>
std::string show_text(const Configuration& configuration) {
  return configuration.*kMember;
}

template <auto kMember>
Broken set_path(Configuration& configuration, std::string_view text) {
  const std::filesystem::path path(text);
  if (!path.empty() && !path.has_filename()) return "expected a path that ends in a name";
  configuration.*kMember = path;
  return std::nullopt;
}

template <auto kMember>
std::string show_path(const Configuration& configuration) {
  return (configuration.*kMember).string();
}

Broken read_one_of(std::string& value, std::string_view text,
                   std::initializer_list<std::string_view> words) {
  if (std::find(words.begin(), words.end(), text) == words.end()) {
    std::string expected = "expected one of";
    for (const std::string_view word : words) expected.append(" ").append(word);
    return expected;
  }
  value = text;
  return std::nullopt;
}

Broken read_budget(Configuration& configuration, std::string_view text) {
  configuration.memory_budget_bytes.reset();
  if (text == "auto") return std::nullopt;
  return read_limit(configuration.memory_budget_bytes.emplace(), text);
}

std::string show_budget(const Configuration& configuration) {
  const auto& budget_bytes = configuration.memory_budget_bytes;
  return budget_bytes ? size_setting(*budget_bytes) : "auto";
}

Broken read_log_level(Configuration& configuration, std::string_view text) {
  return read_one_of(configuration.log_level, text,
                     {"trace", "debug", "info", "warn", "error", "off"});
}

Broken read_log_format(Configuration& configuration, std::string_view text) {
  return read_one_of(configuration.log_format, text, {"text", "json"});
}

Broken read_durability(Configuration& configuration, std::string_view text) {
  return read_one_of(configuration.durability, text, {"disk", "none"});
}

Broken read_backend(Configuration& configuration, std::string_view text) {
  for (const shm::Backend backend :
       {shm::Backend::kAuto, shm::Backend::kCpu, shm::Backend::kCuda}) {
    if (text != shm::word(backend)) continue;
    configuration.backend = backend;
    return std::nullopt;
  }
  return "expected one of auto cpu cuda";
}

std::string show_backend(const Configuration& configuration) {
  return std::string(shm::word(configuration.backend));
}

Broken read_mode(Configuration& configuration, std::string_view text) {
  std::uint32_t mode = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mode, 8);
  const bool is_octal = error == std::errc() && end == text.data() + text.size();
  if (!is_octal || (mode & ~0666u) != 0 || (mode & 0400) == 0) {
    return "expected an octal mode such as 0640, readable by its owner, not executable";
  }
  configuration.shm_mode = mode;
  return std::nullopt;
}

std::string show_mode(const Configuration& configuration) {
  char text[16];
  std::snprintf(text, sizeof(text), "0%o", configuration.shm_mode);
  return text;
}

Broken read_directories(Configuration& configuration, std::string_view text) {
  configuration.witness_directories.clear();
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(':'), text.size());
    const std::filesystem::path path(text.substr(0, end));
    if (!path.is_absolute()) return "expected absolute paths";
    configuration.witness_directories.push_back(path);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::nullopt;
}

std::string show_directories(const Configuration& configuration) {
  std::string text;
  for (const auto& path : configuration.witness_directories) {
    if (!text.empty()) text.push_back(':');
    text.append(path.native());
  }
  return text;
}

// clang-format off
constexpr Setting kSettings[] = {
    {"backend", "WORD", "auto, cpu or cuda", read_backend, show_backend},
    {"require_gpu", "", "refuse to start without a GPU (exit 4)",
     set_switch<&Configuration::require_gpu>, show_switch<&Configuration::require_gpu>},
    {"threads", "N", "threads of the kernels; 0: as many as the process may run on",
     set_number<&Configuration::threads, 0, 1024>, show_number<&Configuration::threads>},
    {"cpu_devices", "N", "devices among which the threads of the kernels are split",
     set_number<&Configuration::cpu_devices, 1, 8>, show_number<&Configuration::cpu_devices>},
    {"synthesis_concurrency", "N", "partitions synthesized at once",
     set_number<&Configuration::synthesis_concurrency, 1, 64>,
     show_number<&Configuration::synthesis_concurrency>},
    {"workers_per_device", "N", "workers that feed one device",
     set_number<&Configuration::workers_per_device, 1, 4>,
     show_number<&Configuration::workers_per_device>},
    {"device_queue_capacity", "N", "partitions in or past synthesis that may wait for a worker",
     set_number<&Configuration::device_queue_capacity, 1, 256>,
     show_number<&Configuration::device_queue_capacity>},
    {"job_queue_capacity", "N", "jobs that may wait; more are refused",
     set_number<&Configuration::job_queue_capacity, 1, 512>,
     show_number<&Configuration::job_queue_capacity>},
    {"key_loaders", "N", "proving keys read at once; one more may be for critical jobs",
     set_number<&Configuration::key_loaders, 1, 8>, show_number<&Configuration::key_loaders>},
    {"eviction_min_idle", "DURATION", "a key that was used later is not evicted",
     set_duration<&Configuration::eviction_min_idle_ns>,
     show_duration<&Configuration::eviction_min_idle_ns>},
    {"starvation_limit", "DURATION",
     "a job that waited so long goes before all but critical ones; 0s: never",
     set_duration<&Configuration::starvation_limit_ns>,
     show_duration<&Configuration::starvation_limit_ns>},
    {"max_batch_size", "N", "jobs of one circuit collected before they start; 1: none",
     set_number<&Configuration::max_batch_size, 1, 256>,
     show_number<&Configuration::max_batch_size>},
    {"max_batch_wait", "DURATION", "longest that the oldest job of a batch is held",
     set_duration<&Configuration::max_batch_wait_ns>,
     show_duration<&Configuration::max_batch_wait_ns>},
    {"memory_budget", "SIZE", "bytes for the process; auto: what there is, less the margin",
     read_budget, show_budget},
    {"memory_safety_margin", "SIZE", "bytes that an automatic budget leaves alone",
     set_size<&Configuration::memory_safety_margin_bytes>,
     show_size<&Configuration::memory_safety_margin_bytes>},
    {"drain_timeout", "DURATION", "time that running jobs have to end after SIGTERM",
     set_duration<&Configuration::drain_timeout_ns>,
     show_duration<&Configuration::drain_timeout_ns>},
    {"step_limit", "DURATION", "time that one step of a thread may take before the verdict is hung",
     set_duration<&Configuration::step_limit_ns>, show_duration<&Configuration::step_limit_ns>},
    {"segment", "PATH", "where the segment is published",
     set_path<&Configuration::segment>, show_path<&Configuration::segment>},
    {"shm_mode", "MODE", "access rights of the segment", read_mode, show_mode},
    {"shm_group", "GROUP", "group that may read the segment",
     set_text<&Configuration::shm_group>, show_text<&Configuration::shm_group>},
    {"socket", "PATH", "Unix socket of the API",
     set_path<&Configuration::socket>, show_path<&Configuration::socket>},
    {"socket_group", "GROUP", "group that may use the API",
     set_text<&Configuration::socket_group>, show_text<&Configuration::socket_group>},
    {"witness_directories", "PATHS", "folders, separated by ':', in which clients may name files",
     read_directories, show_directories},
    {"spool_directory", "PATH", "folder for uploaded witnesses, private to the engine",
     set_path<&Configuration::spool_directory>, show_path<&Configuration::spool_directory>},
    {"spool_limit", "SIZE", "bytes of uploaded witnesses kept at once",
     set_limit<&Configuration::spool_limit_bytes>, show_size<&Configuration::spool_limit_bytes>},
    {"upload_limit", "SIZE", "bytes of one request",
     set_limit<&Configuration::upload_limit_bytes>,
     show_size<&Configuration::upload_limit_bytes>},
    {"durability", "WORD", "disk: jobs outlive the engine; none: they are in memory only",
     read_durability, show_text<&Configuration::durability>},
    {"job_store", "PATH", "database of the jobs, private to the engine",
     set_path<&Configuration::job_store>, show_path<&Configuration::job_store>},
    {"job_attempts", "N", "engines that may die at a job before it is given up; 0: any number",
     set_number<&Configuration::job_attempts, 0, 1000>,
     show_number<&Configuration::job_attempts>},
    {"result_retention", "DURATION", "time that a job and its result are kept after its end",
     set_duration<&Configuration::result_retention_ns>,
     show_duration<&Configuration::result_retention_ns>},
    {"result_limit", "SIZE", "bytes of results kept at once; the oldest go first",
     set_limit<&Configuration::result_limit_bytes>,
     show_size<&Configuration::result_limit_bytes>},
    {"log_level", "WORD", "trace, debug, info, warn, error or off",
     read_log_level, show_text<&Configuration::log_level>},
    {"log_format", "WORD", "text or json", read_log_format, show_text<&Configuration::log_format>},
    {"log_limit", "N", "lines of one phrase in a second, the rest is counted; 0: no limit",
     set_number<&Configuration::log_limit, 0, 1'000'000>, show_number<&Configuration::log_limit>},
};
// clang-format on

}  // namespace

std::optional<shm::Priority> priority_from(std::string_view text) {
  for (const auto priority : {shm::Priority::kLow, shm::Priority::kNormal, shm::Priority::kHigh,
                              shm::Priority::kCritical}) {
    if (text == shm::word(priority)) return priority;
  }
  return std::nullopt;
}

std::span<const Setting> settings() { return kSettings; }

const Setting* find_setting(std::string_view name) {
  for (const Setting& setting : kSettings) {
    if (setting.name == name) return &setting;
  }
  return nullptr;
}

bool is_path(const Setting& setting) { return setting.form == "PATH"; }

bool is_circuit_key(std::string_view key) {
  return key == "zkey" || key == "kind" || key == "insecure" || key == "keep_resident" ||
         key == "witness_timeout" || key == "digest" || key == "priority";
}

bool is_circuit_id(std::string_view id) {
  return is_word(id, kCircuitIdBytesMax, kCircuitIdCharacters);
}

Broken set_circuit(CircuitConfiguration& circuit, std::string_view key, std::string_view text) {
  if (key == "insecure") return read_switch(circuit.insecure, text);
  if (key == "keep_resident") return read_switch(circuit.keep_resident, text);
  if (key == "digest") return read_digest(circuit.digest, text);
  if (key == "priority") return read_priority(circuit.priority, text);
  if (key == "zkey") {
    circuit.zkey = text;
    return std::nullopt;
  }
  if (key == "witness_timeout") return read_timeout(circuit.witness_timeout_ns, text);
  if (!is_word(text, 16, kKindCharacters)) {
    return "expected 1 to 16 characters of a-z, 0-9, _ and -";
  }
  circuit.kind = text;
  return std::nullopt;
}

Broken check_configuration(const Configuration& configuration) {
  if (configuration.circuits.size() > kCircuitsMax) {
    return std::to_string(configuration.circuits.size()) + " circuits are configured; at most " +
           std::to_string(kCircuitsMax) + " can be";
  }
  for (const CircuitConfiguration& circuit : configuration.circuits) {
    if (!is_circuit_id(circuit.id)) {
      return "circuit '" + circuit.id + "': an id is 1 to 32 letters, digits, . _ and -";
    }
    if (circuit.zkey.empty()) return "circuit '" + circuit.id + "': zkey is missing";
  }
  return std::nullopt;
}

}  // namespace vitrine::engine
