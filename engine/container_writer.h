// SPDX-License-Identifier: Apache-2.0
// Writes snarkjs' container (binary_container.h) section by section.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <utility>

#include "engine/atomic_file.h"
#include "engine/binary_container.h"
#include "engine/error.h"
#include "kernels/curve_point.h"
#include "kernels/extension_field.h"
#include "kernels/prime_field.h"

namespace vitrine::engine {

class ContainerWriter {
 public:
  [[nodiscard]] static Result<ContainerWriter> create(const std::filesystem::path& path,
                                                      const ContainerFormat& format,
                                                      std::uint32_t sections);

  // Starts the next section; exactly `length_bytes` must follow (a broken invariant otherwise).
  void begin_section(std::uint32_t type, std::uint64_t length_bytes);

  void put_bytes(std::span<const std::byte> bytes);

  // Little endian.
  template <class Value>
  void put(const Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    put_bytes(std::as_bytes(std::span(&value, 1)));
  }

  template <class Params>
  void put_montgomery(const kernels::PrimeField<Params>& value) {
    put(value.montgomery());
  }
  template <class Field>
  void put_montgomery(const kernels::QuadraticExtension<Field>& value) {
    put_montgomery(value.c0);
    put_montgomery(value.c1);
  }
  template <class Group>
  void put_montgomery(const kernels::AffinePoint<Group>& point) {
    put_montgomery(point.x);
    put_montgomery(point.y);
  }

  // After the last section. Errors: kInternal naming the file.
  [[nodiscard]] Result<void> commit();

 private:
  explicit ContainerWriter(AtomicFile file) : file_(std::move(file)) {}

  AtomicFile file_;
  std::uint32_t sections_left_ = 0;
  std::uint64_t section_bytes_left_ = 0;
};

}  // namespace vitrine::engine
