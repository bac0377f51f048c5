// SPDX-License-Identifier: Apache-2.0
#include "engine/container_writer.h"
#include "engine/r1cs.h"
#include "engine/r1cs_format.h"

namespace vitrine::engine {
namespace {

template <class Fr>
void put_header(ContainerWriter& writer, const R1csShape& shape) {
  writer.begin_section(kR1csHeaderSection, kR1csHeaderBytes);
  writer.put(static_cast<std::uint32_t>(kScalarBytes));
  writer.put(Fr::modulus());
  writer.put(shape.variables);
  writer.put(shape.outputs);
  writer.put(shape.public_inputs);
  writer.put(shape.private_inputs);
  writer.put(std::uint64_t{shape.variables});  // every signal is its own label
  writer.put(shape.constraints);
}

template <class Fr>
void put_combination(ContainerWriter& writer, const ConstraintMatrix<Fr>& matrix,
                     std::uint32_t row) {
  writer.put(matrix.row_begin[row + 1] - matrix.row_begin[row]);
  for (std::uint32_t i = matrix.row_begin[row]; i < matrix.row_begin[row + 1]; ++i) {
    writer.put(matrix.signals[i]);
    writer.put(matrix.values[i].to_integer());
  }
}

template <class Fr>
void put_sections(ContainerWriter& writer, const R1csShape& shape,
                  const R1csMatrices<Fr>& matrices) {
  put_header<Fr>(writer, shape);
  const std::uint64_t terms = std::uint64_t{matrices.a.signals.size()} + matrices.b.signals.size() +
                              matrices.c.signals.size();
  writer.begin_section(kR1csConstraintsSection,
                       std::uint64_t{shape.constraints} * 12 + terms * kR1csTermBytes);
  for (std::uint32_t row = 0; row < shape.constraints; ++row) {
    put_combination(writer, matrices.a, row);
    put_combination(writer, matrices.b, row);
    put_combination(writer, matrices.c, row);
  }
  writer.begin_section(kR1csLabelsSection, std::uint64_t{shape.variables} * 8);
  for (std::uint64_t label = 0; label < shape.variables; ++label) writer.put(label);
}

}  // namespace

Result<void> write_r1cs(const std::filesystem::path& path, const R1cs& r1cs) {
  auto writer = ContainerWriter::create(path, kR1csFormat, 3);
  if (!writer) return writer.error();
  std::visit([&](const auto& matrices) { put_sections(*writer, r1cs.shape, matrices); },
             r1cs.matrices);
  return writer->commit();
}

}  // namespace vitrine::engine
