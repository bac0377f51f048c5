// SPDX-License-Identifier: Apache-2.0
#include "engine/binary_container.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cassert>
#include <cerrno>
#include <cstring>

#include "engine/byte_reader.h"

namespace vitrine::engine {
namespace {

constexpr std::size_t kHeaderBytes = 12;
constexpr std::size_t kSectionHeaderBytes = 12;
// The formats define 10 sections at most; a few more leave room for newer writers.
constexpr std::uint32_t kMaxSections = 64;

}  // namespace

Result<BinaryContainer> BinaryContainer::open(const std::filesystem::path& path,
                                              const ContainerFormat& format,
                                              const std::string& name) {
  // O_NONBLOCK: opening a FIFO by mistake must not wait for its writer.
  BinaryContainer container(
      shm::FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)),
      name.empty() ? path.string() : name);
  if (auto opened = container.open_checked(); !opened) return opened.error();
  if (auto header = container.read_header(format); !header) return header.error();
  return container;
}

Result<void> BinaryContainer::open_checked() {
  struct stat status {};
  if (!file_.is_open() || ::fstat(file_.number(), &status) != 0) {
    return file_error(std::string("cannot be opened: ") + std::strerror(errno));
  }
  if (!S_ISREG(status.st_mode)) return file_error("not a regular file");
  size_bytes_ = static_cast<std::uint64_t>(status.st_size);
  stamp_ = FileStamp::of(file_.number());
  return {};
}

Result<void> BinaryContainer::read_header(const ContainerFormat& format) {
  if (size_bytes_ < kHeaderBytes) {
    return file_error("too short for a " + std::string(format.magic) +
                      " file: " + std::to_string(size_bytes_) + " bytes");
  }
  std::array<std::byte, kHeaderBytes> bytes;
  if (auto done = read_at(0, bytes); !done) return done.error();
  ByteReader reader(bytes);
  const auto magic = reader.take<std::array<char, 4>>();
  if (std::string_view(magic.data(), magic.size()) != format.magic) {
    return file_error("not a " + std::string(format.magic) + " file: its first bytes differ");
  }
  const auto version = reader.take<std::uint32_t>();
  if (version != format.version) {
    return file_error("version " + std::to_string(version) + ", expected " +
                      std::to_string(format.version));
  }
  return read_section_table(reader.take<std::uint32_t>());
}

Result<void> BinaryContainer::read_section_table(std::uint32_t count) {
  if (count > kMaxSections) {
    return file_error(std::to_string(count) + " sections, expected at most " +
                      std::to_string(kMaxSections));
  }
  std::uint64_t offset = kHeaderBytes;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (size_bytes_ - offset < kSectionHeaderBytes) {
      return file_error("ends inside its section table: section " + std::to_string(i + 1) + " of " +
                        std::to_string(count) + " is missing");
    }
    std::array<std::byte, kSectionHeaderBytes> bytes;
    if (auto done = read_at(offset, bytes); !done) return done.error();
    ByteReader reader(bytes);
    ContainerSection section;
    section.type = reader.take<std::uint32_t>();
    section.length_bytes = reader.take<std::uint64_t>();
    section.offset_bytes = offset + kSectionHeaderBytes;
    const std::uint64_t left = size_bytes_ - section.offset_bytes;
    if (section.length_bytes > left) {
      return section_error(section.type, "says " + std::to_string(section.length_bytes) +
                                             " bytes, the file has " + std::to_string(left) +
                                             " left");
    }
    offset = section.offset_bytes + section.length_bytes;
    sections_.push_back(section);
  }
  if (offset != size_bytes_) {
    return file_error(std::to_string(size_bytes_ - offset) + " bytes after its last section");
  }
  return {};
}

Result<ContainerSection> BinaryContainer::section(std::uint32_t type) const {
  const ContainerSection* found = nullptr;
  for (const ContainerSection& section : sections_) {
    if (section.type != type) continue;
    if (found != nullptr) return section_error(type, "is there twice, expected once");
    found = &section;
  }
  if (found == nullptr) return section_error(type, "is missing");
  return *found;
}

Result<ContainerSection> BinaryContainer::section_of_length(std::uint32_t type,
                                                            std::uint64_t expected_bytes) const {
  auto found = section(type);
  if (found && found->length_bytes != expected_bytes) {
    return section_error(type, "has " + std::to_string(found->length_bytes) + " bytes, expected " +
                                   std::to_string(expected_bytes));
  }
  return found;
}

Result<void> BinaryContainer::read(const ContainerSection& section, std::uint64_t offset_bytes,
                                   std::span<std::byte> into) const {
  assert(offset_bytes <= section.length_bytes);
  assert(into.size() <= section.length_bytes - offset_bytes);
  return read_at(section.offset_bytes + offset_bytes, into);
}

Result<void> BinaryContainer::read_at(std::uint64_t offset_bytes, std::span<std::byte> into) const {
  while (!into.empty()) {
    const ssize_t got =
        ::pread(file_.number(), into.data(), into.size(), static_cast<off_t>(offset_bytes));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return file_error(std::string("cannot be read: ") + std::strerror(errno));
    if (got == 0) return file_error("became shorter while it was read");
    into = into.subspan(static_cast<std::size_t>(got));
    offset_bytes += static_cast<std::uint64_t>(got);
  }
  return {};
}

Error BinaryContainer::section_error(std::uint32_t type, std::string_view rule) const {
  return file_error("section " + std::to_string(type) + ": " + std::string(rule));
}

Error BinaryContainer::file_error(std::string_view rule) const {
  return bad_input(name_ + ": " + std::string(rule));
}

}  // namespace vitrine::engine
