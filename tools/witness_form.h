// SPDX-License-Identifier: Apache-2.0
// WitnessForm: files as a form, multipart/form-data with a part `witness`, or `input`, for each.
//
// Threads  one at a time.
// Cost     one piece of one file in memory, whatever their sizes.
// Source   RFC 7578.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/engine_connection.h"
#include "tools/error.h"

namespace vitrine::tools {

class WitnessForm {
 public:
  // Errors: kUsage for a file that cannot be read.
  static Result<WitnessForm> of(const std::vector<std::filesystem::path>& files,
                                const std::string& part_name);

  [[nodiscard]] std::string content_type() const;
  [[nodiscard]] std::uint64_t bytes() const;

  // As EngineConnection::send. Errors: its own; kFailed for a file that became shorter since.
  [[nodiscard]] Result<bool> send(EngineConnection& connection) const;

 private:
  struct Part {
    std::filesystem::path file;
    std::uint64_t bytes = 0;
    std::string head;
  };

  WitnessForm();
  static Result<bool> send_file(const Part& part, EngineConnection& connection);

  std::string boundary_;
  std::vector<Part> parts_;
  std::string end_;
};

}  // namespace vitrine::tools
