// SPDX-License-Identifier: Apache-2.0
#include "engine/configuration_reload.h"

#include <optional>
#include <utility>

#include "engine/live_settings.h"
#include "engine/settings.h"

namespace vitrine::engine {
namespace {

constexpr std::string_view kCircuitOrigin = "circuit.";

void take_setting(const Setting& setting, const LoadedConfiguration& read,
                  LoadedConfiguration& next, ReloadReport& report) {
  const std::string name(setting.name);
  const std::string value = setting.show(read.configuration);
  const bool has_changed = value != setting.show(next.configuration);
  if (has_changed && !is_live(name)) {
    report.at_next_start.push_back(name);
    return;
  }
  if (has_changed) {
    (void)setting.set(next.configuration, value);  // it was taken once already
    report.settings.push_back(name);
  }
  const auto origin = read.origins.find(name);
  next.origins.erase(name);
  if (origin != read.origins.end()) next.origins.insert(*origin);
}

// What is in effect, changed to what was read as far as it can be now.
LoadedConfiguration merge(const LoadedConfiguration& in_effect, const LoadedConfiguration& read,
                          ReloadReport& report) {
  LoadedConfiguration next = in_effect;
  for (const Setting& setting : settings()) take_setting(setting, read, next, report);
  next.configuration.circuits = read.configuration.circuits;
  std::erase_if(next.origins,
                [](const auto& origin) { return origin.first.starts_with(kCircuitOrigin); });
  for (const auto& origin : read.origins) {
    if (origin.first.starts_with(kCircuitOrigin)) next.origins.insert(origin);
  }
  return next;
}

// Files that are written anew are empty for a moment, and stay so on a full disk.
std::optional<Error> missing_circuits(const LoadedConfiguration& in_effect,
                                      const LoadedConfiguration& read) {
  const auto& former = in_effect.configuration.circuits;
  if (former.empty() || !read.configuration.circuits.empty()) return std::nullopt;
  const std::string place = in_effect.origin_of("circuit." + former.front().id + ".zkey");
  return Error{ErrorClass::kUsage, place.substr(0, place.rfind(':')) +
                                       ": it has no circuit any more, nor has any other " +
                                       "source: a reload does not take the last circuit away"};
}

void add_list(std::string& text, std::string_view title, const std::vector<std::string>& names) {
  if (names.empty()) return;
  text.append(text.empty() ? "" : "; ").append(title).append(":");
  for (const std::string& name : names) text.append(" ").append(name);
}

void tell(EngineControl& control, const ReloadReport& report) {
  std::string text;
  add_list(text, "circuits added", report.circuits.added);
  add_list(text, "removed", report.circuits.removed);
  add_list(text, "changed", report.circuits.changed);
  add_list(text, "settings", report.settings);
  control.log("reloaded", text.empty() ? "nothing has changed" : text, JournalLevel::kInfo);
  if (report.at_next_start.empty()) return;
  std::string later;
  add_list(later, "settings that wait for the next start", report.at_next_start);
  control.log("not reloaded", later, JournalLevel::kWarn);
}

}  // namespace

Result<ReloadReport> ConfigurationReload::perform(EngineControl& control, const Apply& apply) {
  const std::lock_guard one_at_a_time(one_at_a_time_);
  source_.begun();
  auto report = take(control, apply);
  if (report) {
    tell(control, *report);
  } else {
    control.log("reload refused", report.error().text, JournalLevel::kError);
  }
  source_.ended();
  return report;
}

Result<ReloadReport> ConfigurationReload::take(EngineControl& control, const Apply& apply) {
  auto read = load_configuration(source_.request);
  if (!read) return read.error();
  if (const auto missing = missing_circuits(*in_effect(), *read)) return *missing;
  source_.complete(read->configuration);
  ReloadReport report;
  auto next = std::make_shared<const LoadedConfiguration>(merge(*in_effect(), *read, report));
  auto changes = control.take(next->configuration, next->in_effect());
  if (!changes) return changes.error();
  report.circuits = std::move(*changes);
  {
    const std::lock_guard lock(mutex_);
    in_effect_ = next;
  }
  apply(next->configuration);
  return report;
}

std::shared_ptr<const LoadedConfiguration> ConfigurationReload::in_effect() const {
  const std::lock_guard lock(mutex_);
  return in_effect_;
}

}  // namespace vitrine::engine
