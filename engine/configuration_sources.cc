// SPDX-License-Identifier: Apache-2.0
#include "engine/configuration_sources.h"

#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <set>

#include "engine/quantities.h"
#include "engine/settings.h"
#include "engine/text_file.h"
#include "engine/toml_string.h"
#include "engine/witness_command.h"
#include "shm/printable_text.h"

namespace vitrine::engine {
namespace {

constexpr std::size_t kFileBytesMax = std::size_t{1} << 20;

Error usage_error(const std::string& origin, const std::string& rule) {
  return {ErrorClass::kUsage, origin + ": " + rule};
}

std::string place_of(const std::filesystem::path& file, const toml::node& node) {
  return file.string() + ":" + std::to_string(node.source().begin.line);
}

// Settings are read from text, whatever their source; arrays of texts are joined by colons.
std::optional<std::string> text_of(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto number = node.value_exact<std::int64_t>()) return std::to_string(*number);
  if (const auto truth = node.value_exact<bool>()) return *truth ? "true" : "false";
  const toml::array* array = node.as_array();
  if (array == nullptr) return std::nullopt;
  std::string joined;
  for (const toml::node& element : *array) {
    const auto text = element.value_exact<std::string>();
    if (!text || text->find(':') != std::string::npos) return std::nullopt;
    joined += (joined.empty() ? "" : ":") + *text;
  }
  return joined;
}

constexpr const char* kWitnessCommand = "witness_command";

// The words of an array of texts; nothing when it is anything else.
std::optional<std::vector<std::string>> words_of(const toml::node& node) {
  const toml::array* array = node.as_array();
  if (array == nullptr) return std::nullopt;
  std::vector<std::string> words;
  for (const toml::node& element : *array) {
    const auto word = element.value_exact<std::string>();
    if (!word) return std::nullopt;
    words.push_back(*word);
  }
  return words;
}

constexpr std::string_view kVariablePrefix = "VITRINE_";

std::string variable_of(const Setting& setting) {
  std::string name = std::string(kVariablePrefix) + std::string(setting.name);
  for (char& letter : name) letter = static_cast<char>(std::toupper(letter));
  return name;
}

// True when the variable could only be a setting that does not exist.
bool is_unknown_variable(std::string_view name) {
  if (!name.starts_with(kVariablePrefix)) return false;
  const std::string_view rest = name.substr(kVariablePrefix.size());
  // Those of other programs and of the tests.
  for (const std::string_view other : {"INSTANCE", "HTTP_LISTEN", "BIN", "TESTS"}) {
    if (rest == other) return false;
  }
  if (rest.starts_with("TEST_") || rest == "START_RACES") return false;
  // A cluster tells every container where the service `vitrine` or `vitrine-http` is.
  if (rest.find("SERVICE_HOST") != rest.npos || rest.find("SERVICE_PORT") != rest.npos ||
      rest == "PORT" || rest.ends_with("_PORT") || rest.find("PORT_") != rest.npos) {
    return false;
  }
  const auto all = settings();
  return std::none_of(all.begin(), all.end(),
                      [&](const Setting& setting) { return name == variable_of(setting); });
}

std::string circuit_setting(const std::string& id, const std::string& key) {
  return "circuit." + id + "." + key;
}

// Other processes and the segment's readers are told these paths, so they must not depend on who
// reads them.
std::string absolute_path(const std::string& text, const std::filesystem::path& folder) {
  if (text.empty()) return text;
  std::error_code ignored;
  return std::filesystem::absolute(folder / text, ignored).lexically_normal();
}

class Loader {
 public:
  explicit Loader(const ConfigurationRequest& request) : request_(request) {}

  Result<LoadedConfiguration> load() {
    loaded_.configuration.instance = request_.instance;
    if (auto done = take_files(); !done) return done.error();
    if (auto done = take_environment(); !done) return done.error();
    for (const auto& [name, value] : request_.flags) {
      if (auto done = set(name, value, "flag --" + dashed(name), {}); !done) return done.error();
    }
    for (const std::string& flag : request_.circuits) {
      if (auto done = take_circuit_flag(flag); !done) return done.error();
    }
    for (CircuitConfiguration& circuit : loaded_.configuration.circuits) {
      const bool is_named = !circuit.kind.empty();
      if (!is_named && set_circuit(circuit, "kind", circuit.id)) circuit.kind = "proof";
    }
    if (const auto broken = check_configuration(loaded_.configuration)) {
      return Error{ErrorClass::kUsage, *broken};
    }
    return std::move(loaded_);
  }

 private:
  static std::string dashed(std::string name) {
    std::replace(name.begin(), name.end(), '_', '-');
    return name;
  }

  // `folder` is where relative paths of this source begin.
  Result<void> set(std::string_view name, const std::string& text, const std::string& origin,
                   const std::filesystem::path& folder) {
    const Setting* setting = find_setting(name);
    if (setting == nullptr) return usage_error(origin, "unknown key '" + std::string(name) + "'");
    const std::string value = is_path(*setting) ? absolute_path(text, folder) : text;
    if (const auto broken = setting->set(loaded_.configuration, value)) {
      return usage_error(origin, std::string(name) + " = '" + text + "': " + *broken);
    }
    loaded_.origins[std::string(name)] = origin;
    return {};
  }

  Result<void> take_files() {
    std::optional<std::filesystem::path> file = request_.file;
    std::error_code ignored;
    for (const std::string& name : {request_.instance + ".toml", std::string("vitrine.toml")}) {
      const std::filesystem::path candidate = request_.directory / name;
      if (!file && std::filesystem::exists(candidate, ignored)) file = candidate;
    }
    if (file) {
      if (auto done = take_file(*file); !done) return done;
      if (auto done = take_folder(file->string() + ".d"); !done) return done;
    }
    if (request_.file) return {};
    return take_folder(request_.directory / "circuits.d");
  }

  Result<void> take_folder(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
      if (entry.path().extension() == ".toml") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const auto& file : files) {
      if (auto done = take_file(file); !done) return done;
    }
    return {};
  }

  Result<void> take_file(const std::filesystem::path& file) {
    auto text = read_text_file(file, kFileBytesMax);
    if (!text) return Error{ErrorClass::kUsage, text.error().text};
    try {
      return take_document(toml::parse(*text, file.string()), file);
    } catch (const toml::parse_error& wrong) {
      return usage_error(file.string() + ":" + std::to_string(wrong.source().begin.line),
                         std::string(wrong.description()));
    }
  }

  Result<void> take_document(const toml::table& document, const std::filesystem::path& file) {
    for (const auto& [key, node] : document) {
      const toml::table* table = node.as_table();
      if (table == nullptr || (key.str() != "engine" && key.str() != "circuit")) {
        const bool is_setting = find_setting(key.str()) != nullptr;
        return usage_error(place_of(file, node),
                           "unknown key '" + std::string(key.str()) + "'" +
                               (is_setting ? ": it stands below [engine]" : ""));
      }
      const bool is_engine = key.str() == "engine";
      auto done = is_engine ? take_engine(*table, file) : take_circuits(*table, file);
      if (!done) return done;
    }
    return {};
  }

  Result<void> take_engine(const toml::table& table, const std::filesystem::path& file) {
    for (const auto& [key, node] : table) {
      const auto text = text_of(node);
      if (!text && find_setting(key.str()) != nullptr) {
        return usage_error(place_of(file, node),
                           std::string(key.str()) + ": expected a text, number or truth value");
      }
      auto done = set(key.str(), text.value_or(""), place_of(file, node), file.parent_path());
      if (!done) return done;
    }
    return {};
  }

  CircuitConfiguration& circuit(std::string_view id) {
    for (CircuitConfiguration& known : loaded_.configuration.circuits) {
      if (known.id == id) return known;
    }
    CircuitConfiguration& added = loaded_.configuration.circuits.emplace_back();
    added.id = id;
    return added;
  }

  Result<void> take_circuits(const toml::table& circuits, const std::filesystem::path& file) {
    for (const auto& [id, node] : circuits) {
      const toml::table* table = node.as_table();
      if (table == nullptr) {
        return usage_error(place_of(file, node), "expected [circuit.ID] with keys");
      }
      if (auto done = take_circuit(circuit(id.str()), *table, file); !done) return done;
    }
    return {};
  }

  Result<void> take_circuit(CircuitConfiguration& circuit, const toml::table& table,
                            const std::filesystem::path& file) {
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (name == kWitnessCommand) {
        if (auto done = take_witness_command(circuit, node, file); !done) return done;
        continue;
      }
      const auto text = text_of(node);
      if (!is_circuit_key(name) || !text) {
        return usage_error(place_of(file, node),
                           (text ? "unknown key 'circuit." + circuit.id + "." + name + "'"
                                 : name + ": expected a single value"));
      }
      if (const auto broken = set_circuit(circuit, name, *text)) {
        return usage_error(place_of(file, node), name + " = '" + *text + "': " + *broken);
      }
      loaded_.origins[circuit_setting(circuit.id, name)] = place_of(file, node);
    }
    if (circuit.zkey.is_relative() && !circuit.zkey.empty()) {
      circuit.zkey = file.parent_path() / circuit.zkey;
    }
    return {};
  }

  Result<void> take_witness_command(CircuitConfiguration& circuit, const toml::node& node,
                                    const std::filesystem::path& file) {
    auto words = words_of(node);
    const auto broken = words ? check_witness_command(*words)
                              : std::optional<std::string>("expected an array of texts");
    if (broken) return usage_error(place_of(file, node), kWitnessCommand + (": " + *broken));
    if (!words->empty()) words->front() = program_word(words->front(), file.parent_path());
    circuit.witness_command = std::move(*words);
    loaded_.origins[circuit_setting(circuit.id, kWitnessCommand)] = place_of(file, node);
    return {};
  }

  Result<void> take_environment() {
    for (const std::string& name : request_.variable_names) {
      if (!is_unknown_variable(name)) continue;
      const char* value = request_.variable(name.c_str());
      if (value != nullptr && *value != '\0') {
        return usage_error("environment " + name, "no setting has this name");
      }
    }
    for (const Setting& setting : settings()) {
      const std::string name = variable_of(setting);
      const char* value = request_.variable(name.c_str());
      if (value == nullptr || *value == '\0') continue;  // as for a shell's ${NAME:-}
      if (auto done = set(setting.name, value, "environment " + name, {}); !done) return done;
    }
    return {};
  }

  Result<void> take_circuit_flag(const std::string& flag) {
    const std::size_t equals = flag.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == flag.size()) {
      return usage_error("flag --circuit", "'" + flag + "': expected ID=FILE.zkey");
    }
    const std::string id = flag.substr(0, equals);
    if (!flagged_circuits_.insert(id).second) {
      return usage_error("flag --circuit", "'" + id + "' is given more than once");
    }
    circuit(id).zkey = flag.substr(equals + 1);
    loaded_.origins[circuit_setting(id, "zkey")] = "flag --circuit";
    return {};
  }

  const ConfigurationRequest& request_;
  LoadedConfiguration loaded_;
  std::set<std::string> flagged_circuits_;
};

bool is_bare(const std::string& text) {
  const bool is_number = !text.empty() && (text == "0" || text[0] != '0') &&
                         text.find_first_not_of("0123456789") == std::string::npos;
  return text == "true" || text == "false" || is_number;
}

std::array<std::pair<const char*, std::string>, 8> shown_keys(const CircuitConfiguration& circuit) {
  return {{{"zkey", circuit.zkey.string()},
           {"kind", circuit.kind},
           {"insecure", circuit.insecure ? "true" : "false"},
           {"keep_resident", circuit.keep_resident ? "true" : "false"},
           {kWitnessCommand, witness_command_text(circuit.witness_command)},
           {"witness_timeout", duration_setting(circuit.witness_timeout_ns)},
           {"digest", circuit.digest},
           {"priority", std::string(shm::word(circuit.priority))}}};
}

}  // namespace

std::string LoadedConfiguration::origin_of(const std::string& setting) const {
  const auto origin = origins.find(setting);
  return origin == origins.end() ? "default" : shm::printable_text(origin->second);
}

std::string LoadedConfiguration::to_toml() const {
  const auto line = [this](std::string_view key, const std::string& value,
                           const std::string& setting) {
    const bool is_written_so = is_bare(value) || key == kWitnessCommand;
    return std::string(key) + " = " + (is_written_so ? value : toml_string(value)) + "  # " +
           origin_of(setting) + "\n";
  };
  std::string text = "[engine]\n";
  for (const Setting& setting : settings()) {
    text += line(setting.name, setting.show(configuration), std::string(setting.name));
  }
  for (const CircuitConfiguration& circuit : configuration.circuits) {
    text += "\n[circuit." + toml_string(circuit.id) + "]\n";
    for (const auto& [key, value] : shown_keys(circuit)) {
      text += line(key, value, circuit_setting(circuit.id, key));
    }
  }
  return text;
}

std::vector<SettingInEffect> LoadedConfiguration::in_effect() const {
  std::vector<SettingInEffect> list;
  for (const Setting& setting : settings()) {
    const std::string name(setting.name);
    list.push_back({name, setting.show(configuration), origin_of(name)});
  }
  for (const CircuitConfiguration& circuit : configuration.circuits) {
    for (const auto& [key, value] : shown_keys(circuit)) {
      const std::string name = circuit_setting(circuit.id, key);
      list.push_back({name, value, origin_of(name)});
    }
  }
  return list;
}

Result<LoadedConfiguration> load_configuration(const ConfigurationRequest& request) {
  return Loader(request).load();
}

}  // namespace vitrine::engine
