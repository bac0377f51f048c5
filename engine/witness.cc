// SPDX-License-Identifier: Apache-2.0
#include "engine/witness.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "engine/binary_container.h"
#include "engine/byte_reader.h"
#include "engine/wtns_format.h"

namespace vitrine::engine {
namespace {

bool is_field_of(CurveId curve, const ScalarInteger& prime) {
  return with_curve(curve, [&](auto id) { return prime == decltype(id)::type::Fr::modulus(); });
}

// What field it is instead, for the message.
std::string field_text(std::uint32_t value_bytes, const ScalarInteger& prime) {
  if (value_bytes != kScalarBytes)
    return "that of values of " + std::to_string(value_bytes) + " bytes";
  for (const CurveId id : {CurveId::kBn254, CurveId::kBls12_381}) {
    if (is_field_of(id, prime)) return "that of " + std::string(curve_name(id));
  }
  return "that of no curve known here";
}

Result<std::uint32_t> read_count(const BinaryContainer& container, CurveId curve) {
  std::array<std::byte, kWtnsHeaderBytes> bytes;
  auto header = container.section_of_length(kWtnsHeaderSection, bytes.size());
  if (!header) return header.error();
  if (auto done = container.read(*header, 0, bytes); !done) return done.error();
  ByteReader reader(bytes);
  const auto value_bytes = reader.take<std::uint32_t>();
  const auto prime = reader.take<ScalarInteger>();
  if (value_bytes != kScalarBytes || !is_field_of(curve, prime)) {
    return container.section_error(kWtnsHeaderSection,
                                   "field prime is not that of the circuit's curve, " +
                                       std::string(curve_name(curve)) + ", but " +
                                       field_text(value_bytes, prime));
  }
  return reader.take<std::uint32_t>();
}

Result<std::vector<ScalarInteger>> read_values(const BinaryContainer& container,
                                               std::uint32_t count) {
  auto section =
      container.section_of_length(kWtnsValuesSection, std::uint64_t{count} * kScalarBytes);
  if (!section) return section.error();
  std::vector<ScalarInteger> values(count);
  auto done = container.read(*section, 0, std::as_writable_bytes(std::span(values)));
  if (!done) return done.error();
  return values;
}

}  // namespace

Witness& Witness::operator=(Witness&& other) noexcept {
  if (this != &other) {
    wipe();
    values_ = std::move(other.values_);
  }
  return *this;
}

Witness::~Witness() { wipe(); }

void Witness::wipe() noexcept {
  if (!values_.empty()) ::explicit_bzero(values_.data(), values_.size() * sizeof(ScalarInteger));
}

Result<Witness> read_witness(const std::filesystem::path& path, const KeyShape& shape,
                             const std::string& name) {
  auto container = BinaryContainer::open(path, kWtnsFormat, name);
  if (!container) return container.error();
  auto count = read_count(*container, shape.curve);
  if (!count) return count.error();
  if (*count != shape.variables) {
    return container->section_error(kWtnsHeaderSection, std::to_string(*count) +
                                                            " values, expected the circuit's " +
                                                            std::to_string(shape.variables));
  }
  try {
    auto values = read_values(*container, *count);
    if (!values) return values.error();
    Witness witness(std::move(*values));
    const bool canonical = with_curve(shape.curve, [&](auto curve) {
      using Fr = typename decltype(curve)::type::Fr;
      return std::all_of(witness.values().begin(), witness.values().end(), Fr::is_canonical);
    });
    if (!canonical) {
      return container->section_error(kWtnsValuesSection, "a value is not below the field prime");
    }
    if (witness.values().front() != ScalarInteger{1}) {
      return container->section_error(kWtnsValuesSection, "value 0 is not 1");
    }
    return witness;
  } catch (const std::bad_alloc&) {
    return Error{ErrorClass::kOutOfMemory,
                 (name.empty() ? path.string() : name) + ": no memory for the witness"};
  }
}

PublicInputs public_inputs_of(const Witness& witness, const KeyShape& shape) {
  assert(witness.values().size() > shape.public_inputs);
  const auto values = witness.values().subspan(1, shape.public_inputs);
  return {{values.begin(), values.end()}};
}

}  // namespace vitrine::engine
