// SPDX-License-Identifier: Apache-2.0
#include "engine/vitrined_options.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "shm/paths.h"

namespace vitrine::engine {
namespace {

std::string flag_name(std::string_view setting) {
  std::string name = "--" + std::string(setting);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string check_instance_name(const std::string& name) {
  if (shm::is_instance_name(name)) return {};
  return "'" + name + "' is not 1 to 32 characters of a-z, 0-9, _ and -, not first a -";
}

}  // namespace

VitrinedOptions::VitrinedOptions(CLI::App& app) {
  app.set_version_flag("--version", "vitrined " VITRINE_VERSION);
  app.add_option("--instance", instance_, "name of the engine instance")
      ->envname("VITRINE_INSTANCE")
      ->check(check_instance_name);
  app.add_option("--config", file_, "configuration file instead of those in /etc/vitrine")
      ->type_name("FILE");
  app.add_option("--circuit", circuits_, "a circuit and its proving key; repeat for more")
      ->type_name("ID=FILE.zkey")
      ->take_all()
      ->expected(1);
  auto* check = app.add_flag("--check-config", wants_check_,
                             "say what a start would complain about, and end");
  auto* print =
      app.add_flag("--print-config", wants_print_, "show every value and its origin, and end")
          ->excludes(check);
  auto* simulate = app.add_option("--simulate", simulation_,
                                  "run the scheduler on a load in virtual time, and end")
                       ->type_name("FILE")
                       ->excludes(check)
                       ->excludes(print);
  app.add_flag("--json", wants_json_, "with --simulate: the result as JSON")->needs(simulate);
  for (const Setting& setting : settings()) {
    SettingFlag& flag = flags_.emplace_back();
    flag.setting = &setting;
    const std::string name = flag_name(setting.name);
    const std::string help(setting.help);
    if (setting.form.empty()) {
      flag.option = app.add_flag(name, flag.value, help);
    } else {
      flag.option = app.add_option(name, flag.value, help)->type_name(std::string(setting.form));
    }
  }
}

ConfigurationRequest VitrinedOptions::request() const {
  ConfigurationRequest request;
  request.instance = instance_;
  if (!file_.empty()) request.file = file_;
  request.circuits = circuits_;
  for (const SettingFlag& flag : flags_) {
    if (flag.option->count() == 0) continue;
    request.flags.emplace_back(flag.setting->name, flag.value);
  }
  request.variable = [](const char* name) -> const char* { return std::getenv(name); };
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view entry(*variable);
    request.variable_names.emplace_back(entry.substr(0, entry.find('=')));
  }
  return request;
}

}  // namespace vitrine::engine
