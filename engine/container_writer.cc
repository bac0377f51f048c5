// SPDX-License-Identifier: Apache-2.0
#include "engine/container_writer.h"

#include <cassert>

namespace vitrine::engine {

Result<ContainerWriter> ContainerWriter::create(const std::filesystem::path& path,
                                                const ContainerFormat& format,
                                                std::uint32_t sections) {
  auto file = AtomicFile::create(path);
  if (!file) return file.error();
  ContainerWriter writer(std::move(*file));
  writer.sections_left_ = sections;
  writer.file_.write(std::as_bytes(std::span(format.magic)));
  writer.file_.write(std::as_bytes(std::span(&format.version, 1)));
  writer.file_.write(std::as_bytes(std::span(&sections, 1)));
  return writer;
}

void ContainerWriter::begin_section(std::uint32_t type, std::uint64_t length_bytes) {
  assert(sections_left_ > 0 && section_bytes_left_ == 0);
  --sections_left_;
  section_bytes_left_ = length_bytes;
  file_.write(std::as_bytes(std::span(&type, 1)));
  file_.write(std::as_bytes(std::span(&length_bytes, 1)));
}

void ContainerWriter::put_bytes(std::span<const std::byte> bytes) {
  assert(bytes.size() <= section_bytes_left_);
  section_bytes_left_ -= bytes.size();
  file_.write(bytes);
}

Result<void> ContainerWriter::commit() {
  assert(sections_left_ == 0 && section_bytes_left_ == 0);
  return file_.commit();
}

}  // namespace vitrine::engine
