// SPDX-License-Identifier: Apache-2.0
// The container of snarkjs' binary files (`.zkey`, `.wtns`, `.r1cs`): opens one, checks its section
// table, reads from its sections.
//
// Layout: 4-byte magic, u32 version, u32 section count, then {u32 type, u64 length, bytes} each;
// little endian, sections in any order and unaligned.
// Threads: read() may be called from several threads at once.
// Crash: the file is read, never mapped, so one that shrinks meanwhile gives an error, not SIGBUS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/error.h"
#include "engine/file_stamp.h"
#include "shm/file_descriptor.h"

namespace vitrine::engine {

struct ContainerFormat {
  std::string_view magic;  // four characters
  std::uint32_t version = 0;
};

struct ContainerSection {
  std::uint32_t type = 0;
  std::uint64_t offset_bytes = 0;
  std::uint64_t length_bytes = 0;
};

class BinaryContainer {
 public:
  // Errors: kBadInput when the file cannot be read, is not a regular file, has another magic or
  // version, or when its section table does not fit the file's size exactly. They call the file
  // `name`; empty: its path.
  [[nodiscard]] static Result<BinaryContainer> open(const std::filesystem::path& path,
                                                    const ContainerFormat& format,
                                                    const std::string& name = {});

  // The one section of this type; kBadInput when it is missing or there are two.
  [[nodiscard]] Result<ContainerSection> section(std::uint32_t type) const;

  // The section of this type, which must be `expected_bytes` long.
  [[nodiscard]] Result<ContainerSection> section_of_length(std::uint32_t type,
                                                           std::uint64_t expected_bytes) const;

  // Copies into.size() bytes from the section's byte `offset_bytes` on. The range lies inside the
  // section (a broken invariant otherwise). Errors: kBadInput when the file has become shorter.
  [[nodiscard]] Result<void> read(const ContainerSection& section, std::uint64_t offset_bytes,
                                  std::span<std::byte> into) const;

  // "NAME: section 5: RULE"
  [[nodiscard]] Error section_error(std::uint32_t type, std::string_view rule) const;
  // "NAME: RULE"
  [[nodiscard]] Error file_error(std::string_view rule) const;

  [[nodiscard]] std::uint64_t size_bytes() const { return size_bytes_; }
  // Written to, or replaced in its folder, since it was opened.
  [[nodiscard]] bool has_changed() const { return FileStamp::of(file_.number()) != stamp_; }

 private:
  BinaryContainer(shm::FileDescriptor file, std::string name)
      : file_(std::move(file)), name_(name) {}

  [[nodiscard]] Result<void> open_checked();
  [[nodiscard]] Result<void> read_at(std::uint64_t offset_bytes, std::span<std::byte> into) const;
  [[nodiscard]] Result<void> read_header(const ContainerFormat& format);
  [[nodiscard]] Result<void> read_section_table(std::uint32_t count);

  shm::FileDescriptor file_;
  std::string name_;
  std::uint64_t size_bytes_ = 0;
  FileStamp stamp_;
  std::vector<ContainerSection> sections_;
};

}  // namespace vitrine::engine
