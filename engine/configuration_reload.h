// SPDX-License-Identifier: Apache-2.0
// ConfigurationReload: reads the configuration of a running engine again and applies what may
// change.
//
// Threads: any; one reload at a time, and no lock of the engine is held while files are read.
// Why: flags and the environment are those of the start, so they win over the files as they did
// then. A configuration that is not good changes nothing; nor does one without a circuit, when
// there were some (docs/decisions/0022-reload-without-circuits.md).
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/configuration_sources.h"
#include "engine/engine_control.h"

namespace vitrine::engine {

struct ReloadReport {
  CircuitChanges circuits;
  std::vector<std::string> settings;       // that took effect
  std::vector<std::string> at_next_start;  // that cannot change now
};

class ConfigurationReload {
 public:
  struct Source {
    ConfigurationRequest request;
    std::function<void(Configuration&)> complete;  // fills in what no source says
    std::function<void()> begun, ended;            // told of each reload, however it ends
  };

  // `in_effect` is what the source gave at the start.
  ConfigurationReload(Source source, LoadedConfiguration in_effect)
      : source_(std::move(source)),
        in_effect_(std::make_shared<const LoadedConfiguration>(std::move(in_effect))) {}

  // `apply` is told of the new configuration once the engine has taken it. Errors: kUsage naming
  // the file and line, kRefused when the engine cannot take it now. What became of it is logged.
  using Apply = std::function<void(const Configuration&)>;
  [[nodiscard]] Result<ReloadReport> perform(EngineControl& control, const Apply& apply);

  [[nodiscard]] std::shared_ptr<const LoadedConfiguration> in_effect() const;

 private:
  [[nodiscard]] Result<ReloadReport> take(EngineControl& control, const Apply& apply);

  Source source_;
  std::mutex one_at_a_time_;
  mutable std::mutex mutex_;  // of in_effect_
  std::shared_ptr<const LoadedConfiguration> in_effect_;
};

}  // namespace vitrine::engine
