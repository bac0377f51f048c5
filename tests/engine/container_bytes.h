// SPDX-License-Identifier: Apache-2.0
// A snarkjs file as bytes that a test can damage.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

namespace vitrine::engine::testing {

struct SectionPlace {
  std::uint32_t type = 0;
  std::size_t header = 0;  // where its type and length are
  std::size_t begin = 0, end = 0;
};

class ContainerBytes {
 public:
  explicit ContainerBytes(const std::filesystem::path& path);

  std::size_t size() const { return bytes_.size(); }
  char& operator[](std::size_t position) { return bytes_[position]; }

  // Every section, in the file's order.
  std::vector<SectionPlace> sections() const;
  // The section of this type.
  SectionPlace section(std::uint32_t type) const;

  template <class Value>
  void put(std::size_t position, const Value& value) {
    std::memcpy(bytes_.data() + position, &value, sizeof(value));
  }
  void truncate(std::size_t size) { bytes_.resize(size); }
  void append(const std::string& bytes) { bytes_ += bytes; }
  void erase(std::size_t begin, std::size_t end) { bytes_.erase(begin, end - begin); }
  void flip_bit(std::size_t bit) {
    bytes_[bit / 8] = static_cast<char>(bytes_[bit / 8] ^ (1 << (bit % 8)));
  }

  void write(const std::filesystem::path& path) const;

 private:
  std::string bytes_;
};

std::string read_file(const std::filesystem::path& path);

}  // namespace vitrine::engine::testing
