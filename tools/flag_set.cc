// SPDX-License-Identifier: Apache-2.0
#include "tools/flag_set.h"

#include <CLI/CLI.hpp>
#include <charconv>

#include "shm/paths.h"
#include "shm/user_id.h"
#include "tools/duration_text.h"

namespace vitrine::tools {
namespace {

std::uint64_t strict_number(const std::string& flag, const std::string& text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, number);
  if (problem != std::errc{} || rest != end) {
    throw CLI::ValidationError(flag, "'" + text + "' is not a whole number");
  }
  return number;
}

std::string check_instance_name(const std::string& name) {
  if (shm::is_instance_name(name)) return "";
  return "'" + name + "' is not an instance name: 1 to 32 of a-z, 0-9, _ and -, not first a -";
}

// Empty is what a script's unset variable gives; it would silently mean that nothing was given.
std::string check_not_empty(const std::string& text) {
  return text.empty() ? "'' is not a value: it is empty" : "";
}

}  // namespace

CLI::Option* FlagSet::text(const std::string& name, std::string& value, const std::string& help) {
  return app_.add_option(name, value, help)->check(check_not_empty);
}

CLI::Option* FlagSet::instance(const std::string& name, std::string& value,
                               const std::string& help) {
  return app_.add_option(name, value, help)->check(check_instance_name);
}

CLI::Option* FlagSet::texts(const std::string& name, std::vector<std::string>& values,
                            const std::string& help) {
  return app_.add_option(name, values, help)->check(check_not_empty);
}

CLI::Option* FlagSet::number(const std::string& name, std::optional<std::uint64_t>& value,
                             const std::string& help) {
  const auto take = [name, &value](const std::string& text) { value = strict_number(name, text); };
  return app_.add_option_function<std::string>(name, take, help)->type_name("NUMBER");
}

CLI::Option* FlagSet::duration(const std::string& name, std::optional<std::uint64_t>& value_ns,
                               const std::string& help) {
  const auto take = [name, &value_ns](const std::string& text) {
    const Result<std::uint64_t> duration = parse_duration_ns(text);
    if (!duration) throw CLI::ValidationError(name, duration.error().text);
    value_ns = *duration;
  };
  return app_.add_option_function<std::string>(name, take, help)->type_name("DURATION");
}

CLI::Option* FlagSet::user(const std::string& name, std::optional<uid_t>& value,
                           const std::string& help) {
  const auto take = [name, &value](const std::string& text) {
    value = shm::find_user(text);
    if (!value) throw CLI::ValidationError(name, "'" + text + "' is no user of this machine");
  };
  return app_.add_option_function<std::string>(name, take, help)->type_name("USER");
}

CLI::Option* FlagSet::toggle(const std::string& name, bool& value, const std::string& help) {
  return app_.add_flag(name, value, help);
}

CLI::Option* FlagSet::choice(const std::string& name, std::string& value,
                             std::vector<std::string> words, const std::string& help) {
  return app_.add_option(name, value, help)->check(CLI::IsMember(std::move(words)));
}

void FlagSet::require(CLI::Option* option) { option->required(); }

void FlagSet::environment(CLI::Option* option, const std::string& variable) {
  option->envname(variable);
}

}  // namespace vitrine::tools
