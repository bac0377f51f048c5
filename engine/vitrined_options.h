// SPDX-License-Identifier: Apache-2.0
// The command line of vitrined.
#pragma once

#include <CLI/CLI.hpp>
#include <list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/configuration_sources.h"
#include "engine/settings.h"

namespace vitrine::engine {

class VitrinedOptions {
 public:
  explicit VitrinedOptions(CLI::App& app);

  // What the arguments ask for; after parsing.
  [[nodiscard]] ConfigurationRequest request() const;
  [[nodiscard]] bool wants_check() const { return wants_check_; }
  [[nodiscard]] bool wants_print() const { return wants_print_; }
  // The load to simulate; empty: none.
  [[nodiscard]] const std::string& simulation() const { return simulation_; }
  [[nodiscard]] bool wants_json() const { return wants_json_; }

 private:
  struct SettingFlag {
    const Setting* setting;
    std::string value;
    CLI::Option* option = nullptr;
  };

  std::string instance_ = "main";
  std::string file_;
  std::vector<std::string> circuits_;
  std::list<SettingFlag> flags_;  // the argument library keeps references into it
  bool wants_check_ = false;
  bool wants_print_ = false;
  std::string simulation_;
  bool wants_json_ = false;
};

}  // namespace vitrine::engine
