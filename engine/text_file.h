// SPDX-License-Identifier: Apache-2.0
// Whole small files: reads one within a size limit, writes one so that it is there completely or
// not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "engine/error.h"

namespace vitrine::engine {

// Errors: kBadInput naming the file when it cannot be read, is no regular file, or is too long.
[[nodiscard]] Result<std::string> read_text_file(const std::filesystem::path& path,
                                                 std::size_t max_bytes);

// As AtomicFile writes. Errors: kInternal naming the file; `path` is then as it was.
[[nodiscard]] Result<void> write_file_atomically(const std::filesystem::path& path,
                                                 std::string_view content);

}  // namespace vitrine::engine
