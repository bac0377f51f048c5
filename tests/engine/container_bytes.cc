// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/container_bytes.h"

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace vitrine::engine::testing {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path.string() + " cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

ContainerBytes::ContainerBytes(const std::filesystem::path& path) : bytes_(read_file(path)) {}

std::vector<SectionPlace> ContainerBytes::sections() const {
  std::vector<SectionPlace> places;
  for (std::size_t position = 12; position < bytes_.size();) {
    SectionPlace place;
    std::uint64_t length = 0;
    std::memcpy(&place.type, bytes_.data() + position, 4);
    std::memcpy(&length, bytes_.data() + position + 4, 8);
    place.header = position;
    place.begin = position + 12;
    place.end = place.begin + length;
    places.push_back(place);
    position = place.end;
  }
  return places;
}

SectionPlace ContainerBytes::section(std::uint32_t type) const {
  for (const SectionPlace& place : sections()) {
    if (place.type == type) return place;
  }
  throw std::runtime_error("no section " + std::to_string(type));
}

void ContainerBytes::write(const std::filesystem::path& path) const {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes_.data(), static_cast<std::streamsize>(bytes_.size()));
  if (!file.flush()) throw std::runtime_error(path.string() + " cannot be written");
}

}  // namespace vitrine::engine::testing
