// SPDX-License-Identifier: Apache-2.0
// The flags of a command, each bound to the variable that takes its value.
//
// Why   one file knows the library that parses; commands say only what they take, and every flag
//       of a kind follows the same strict rule.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace vitrine::tools {

// The variables outlive the parsing.
class FlagSet {
 public:
  explicit FlagSet(CLI::App& app) : app_(app) {}

  // The value of a flag, or an argument in its place when the name has no dashes. Each returns
  // what require() and environment() take.
  CLI::Option* text(const std::string& name, std::string& value, const std::string& help);
  CLI::Option* instance(const std::string& name, std::string& value, const std::string& help);
  CLI::Option* texts(const std::string& name, std::vector<std::string>& values,
                     const std::string& help);
  CLI::Option* number(const std::string& name, std::optional<std::uint64_t>& value,
                      const std::string& help);
  CLI::Option* duration(const std::string& name, std::optional<std::uint64_t>& value_ns,
                        const std::string& help);  // as tools/duration_text.h says
  CLI::Option* user(const std::string& name, std::optional<uid_t>& value,
                    const std::string& help);  // a name or a uid
  CLI::Option* toggle(const std::string& name, bool& value, const std::string& help);

  // One of a few words.
  CLI::Option* choice(const std::string& name, std::string& value, std::vector<std::string> words,
                      const std::string& help);

  static void require(CLI::Option* option);
  // Where the value comes from when the flag is not given.
  static void environment(CLI::Option* option, const std::string& variable);

 private:
  CLI::App& app_;
};

}  // namespace vitrine::tools
