// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <limits>
#include <new>
#include <string>

#include "engine/byte_reader.h"
#include "engine/r1cs.h"
#include "engine/r1cs_format.h"
#include "engine/section_stream.h"

namespace vitrine::engine {
namespace {

struct Header {
  CurveId curve;
  R1csShape shape;
};

Result<CurveId> curve_of_prime(const BinaryContainer& container, const ScalarInteger& prime) {
  for (CurveId id : {CurveId::kBn254, CurveId::kBls12_381}) {
    if (with_curve(id, [&](auto curve) { return prime == decltype(curve)::type::Fr::modulus(); })) {
      return id;
    }
  }
  return container.section_error(kR1csHeaderSection,
                                 "field prime is neither that of bn128 nor of bls12381");
}

Result<void> check_shape(const BinaryContainer& container, const R1csShape& shape) {
  const std::uint64_t named =
      std::uint64_t{1} + shape.outputs + shape.public_inputs + shape.private_inputs;
  if (named > shape.variables) {
    return container.section_error(kR1csHeaderSection, std::to_string(shape.variables) +
                                                           " variables, expected at least the " +
                                                           std::to_string(named) + " named ones");
  }
  // Each constraint has at least its three term counts.
  auto section = container.section(kR1csConstraintsSection);
  if (!section) return section.error();
  if (section->length_bytes / 12 < shape.constraints) {
    return container.section_error(kR1csConstraintsSection,
                                   std::to_string(section->length_bytes) + " bytes for " +
                                       std::to_string(shape.constraints) +
                                       " constraints, expected at least 12 each");
  }
  return {};
}

Result<Header> read_header(const BinaryContainer& container) {
  std::array<std::byte, kR1csHeaderBytes> bytes;
  auto section = container.section_of_length(kR1csHeaderSection, bytes.size());
  if (!section) return section.error();
  if (auto done = container.read(*section, 0, bytes); !done) return done.error();
  ByteReader reader(bytes);
  const auto value_bytes = reader.take<std::uint32_t>();
  if (value_bytes != kScalarBytes) {
    return container.section_error(
        kR1csHeaderSection, "values of " + std::to_string(value_bytes) + " bytes, expected 32");
  }
  auto curve = curve_of_prime(container, reader.take<ScalarInteger>());
  if (!curve) return curve.error();
  R1csShape shape;
  shape.variables = reader.take<std::uint32_t>();
  shape.outputs = reader.take<std::uint32_t>();
  shape.public_inputs = reader.take<std::uint32_t>();
  shape.private_inputs = reader.take<std::uint32_t>();
  static_cast<void>(reader.take<std::uint64_t>());  // labels
  shape.constraints = reader.take<std::uint32_t>();
  if (auto checked = check_shape(container, shape); !checked) return checked.error();
  return Header{*curve, shape};
}

template <class Fr>
class ConstraintReader {
 public:
  ConstraintReader(const BinaryContainer& container, const ContainerSection& section,
                   const R1csShape& shape)
      : container_(container), stream_(container, section), shape_(shape) {}

  Result<R1csMatrices<Fr>> read() {
    R1csMatrices<Fr> matrices;
    for (auto* matrix : {&matrices.a, &matrices.b, &matrices.c}) matrix->row_begin = {0};
    for (std::uint32_t i = 0; i < shape_.constraints; ++i) {
      for (auto* matrix : {&matrices.a, &matrices.b, &matrices.c}) {
        if (auto done = read_combination(i, *matrix); !done) return done.error();
      }
    }
    if (stream_.left_bytes() != 0) {
      return container_.section_error(
          kR1csConstraintsSection,
          std::to_string(stream_.left_bytes()) + " bytes after the last constraint");
    }
    return matrices;
  }

 private:
  Result<void> read_combination(std::uint32_t constraint, ConstraintMatrix<Fr>& matrix) {
    std::uint32_t terms = 0;
    if (!stream_.take(terms)) return stream_.error();
    if (stream_.left_bytes() / kR1csTermBytes < terms) {
      return error(constraint, std::to_string(terms) + " terms, more than the section has bytes");
    }
    if (terms > std::numeric_limits<std::uint32_t>::max() - matrix.row_begin.back()) {
      return error(constraint, "a matrix has 2^32 terms or more");
    }
    for (std::uint32_t i = 0; i < terms; ++i) {
      std::uint32_t signal = 0;
      typename Fr::Limbs value;
      if (!stream_.take(signal) || !stream_.take(value)) return stream_.error();
      if (signal >= shape_.variables) {
        return error(constraint, "signal " + std::to_string(signal) + ", expected less than " +
                                     std::to_string(shape_.variables));
      }
      if (!Fr::is_canonical(value)) return error(constraint, "a value is not below the prime");
      matrix.signals.push_back(signal);
      matrix.values.push_back(Fr::from_integer(value));
    }
    matrix.row_begin.push_back(matrix.row_begin.back() + terms);
    return {};
  }

  Error error(std::uint32_t constraint, const std::string& rule) const {
    return container_.section_error(kR1csConstraintsSection,
                                    "constraint " + std::to_string(constraint) + ": " + rule);
  }

  const BinaryContainer& container_;
  SectionStream stream_;
  R1csShape shape_;
};

}  // namespace

Result<R1cs> read_r1cs(const std::filesystem::path& path) {
  auto container = BinaryContainer::open(path, kR1csFormat);
  if (!container) return container.error();
  auto header = read_header(*container);
  if (!header) return header.error();
  auto section = container->section(kR1csConstraintsSection);
  if (!section) return section.error();
  try {
    return with_curve(header->curve, [&](auto curve) -> Result<R1cs> {
      using Fr = typename decltype(curve)::type::Fr;
      auto matrices = ConstraintReader<Fr>(*container, *section, header->shape).read();
      if (!matrices) return matrices.error();
      return R1cs{header->shape, std::move(*matrices)};
    });
  } catch (const std::bad_alloc&) {
    return Error{ErrorClass::kOutOfMemory, path.string() + ": no memory for the constraints"};
  }
}

}  // namespace vitrine::engine
