// SPDX-License-Identifier: Apache-2.0
// The settings of the engine as a table: name, help, how to read and how to show each.
//
// Why: one row makes a setting known to the configuration file, the environment (VITRINE_NAME), the
// command line (--name with dashes) and --print-config alike.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/configuration.h"

namespace vitrine::engine {

struct Setting {
  std::string_view name;  // as in [engine]
  std::string_view form;  // "SIZE", "DURATION", "PATH", ...; empty: a flag without a value
  std::string_view help;
  // The rule that `text` breaks; nothing when it was taken.
  std::optional<std::string> (*set)(Configuration&, std::string_view text);
  std::string (*show)(const Configuration&);
};

[[nodiscard]] std::span<const Setting> settings();
[[nodiscard]] const Setting* find_setting(std::string_view name);

// True when the value is a path, which may be given relative to its source.
[[nodiscard]] bool is_path(const Setting& setting);

// The same for the keys of a [circuit.ID].
[[nodiscard]] std::optional<std::string> set_circuit(CircuitConfiguration& circuit,
                                                     std::string_view key, std::string_view text);
[[nodiscard]] bool is_circuit_key(std::string_view key);
[[nodiscard]] bool is_circuit_id(std::string_view id);

// By its word.
[[nodiscard]] std::optional<shm::Priority> priority_from(std::string_view text);

// What no single value shows: ids, missing keys, counts. The rule that is broken, or nothing.
[[nodiscard]] std::optional<std::string> check_configuration(const Configuration& configuration);

}  // namespace vitrine::engine
