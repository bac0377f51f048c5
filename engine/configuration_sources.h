// SPDX-License-Identifier: Apache-2.0
// Where a configuration comes from: flags > VITRINE_* > drop-ins > file > defaults.
//
// Layout: TOML; [engine] holds the settings (settings.h), [circuit.ID] the circuits. The file is
// /etc/vitrine/INSTANCE.toml, else /etc/vitrine/vitrine.toml, or the one --config names; drop-ins
// are FILE.d/*.toml, in the order of their names; /etc/vitrine/circuits.d/*.toml hold circuits
// only. Errors: one line that names the file and line, the variable or the flag, and the rule.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/configuration.h"
#include "engine/error.h"

namespace vitrine::engine {

struct ConfigurationRequest {
  std::string instance = "main";
  std::optional<std::filesystem::path> file;               // --config
  std::vector<std::pair<std::string, std::string>> flags;  // setting, value
  std::vector<std::string> circuits;                       // ID=FILE.zkey
  std::filesystem::path directory = "/etc/vitrine";
  std::vector<std::string> variable_names;  // all there are, to find those that are misspelt
  // The environment; null when a variable is not set.
  std::function<const char*(const char*)> variable = [](const char*) -> const char* {
    return nullptr;
  };
};

struct LoadedConfiguration {
  Configuration configuration;
  // By setting, or circuit.ID.KEY; "default" when absent.
  std::map<std::string, std::string> origins;

  [[nodiscard]] std::string origin_of(const std::string& setting) const;

  // TOML with each value's origin.
  [[nodiscard]] std::string to_toml() const;
  // The same as a list; a circuit's keys are called circuit.ID.KEY.
  [[nodiscard]] std::vector<SettingInEffect> in_effect() const;
};

[[nodiscard]] Result<LoadedConfiguration> load_configuration(const ConfigurationRequest& request);

}  // namespace vitrine::engine
