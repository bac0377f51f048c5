// SPDX-License-Identifier: Apache-2.0
#include "shm/catalogue.h"

namespace vitrine::shm {
namespace {

class Fnv1a {
 public:
  void add(std::string_view bytes) {
    for (const char byte : bytes) add_byte(static_cast<std::uint8_t>(byte));
    add_byte(0);  // so that "ab","c" differs from "a","bc"
  }
  void add(std::uint32_t number) {
    for (int shift = 0; shift < 32; shift += 8)
      add_byte(static_cast<std::uint8_t>(number >> shift));
  }
  std::uint64_t value() const { return value_; }

 private:
  void add_byte(std::uint8_t byte) { value_ = (value_ ^ byte) * 0x100000001b3ULL; }

  std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

void add_fields(Fnv1a& hash, SectionId section, std::span<const Field> fields) {
  hash.add(static_cast<std::uint32_t>(section));
  for (const Field& field : fields) {
    hash.add(field.name);
    hash.add(static_cast<std::uint32_t>(field.type));
    hash.add(field.offset_bytes);
    hash.add(field.size_bytes);
    for (const std::string_view word : field.words) hash.add(word);
  }
}

}  // namespace

std::uint64_t layout_hash() {
  Fnv1a hash;
  for_each_table([&]<class Record>() {
    add_fields(hash, TableOf<Record>::kSection, TableOf<Record>::kFields);
  });
  add_fields(hash, SectionId::kEvents, kEventFields);
  return hash.value();
}

}  // namespace vitrine::shm
