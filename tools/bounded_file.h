// SPDX-License-Identifier: Apache-2.0
// The beginning of a file that may be anything.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

namespace vitrine::tools {

// At most `limit` bytes; none when the file cannot be read. Never waits for a pipe's writer.
std::optional<std::string> read_bounded(const std::filesystem::path& path, std::size_t limit);

}  // namespace vitrine::tools
