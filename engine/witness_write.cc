// SPDX-License-Identifier: Apache-2.0
#include "engine/container_writer.h"
#include "engine/witness.h"
#include "engine/wtns_format.h"

namespace vitrine::engine {

Result<void> write_witness(const std::filesystem::path& path, CurveId curve,
                           std::span<const ScalarInteger> values) {
  auto writer = ContainerWriter::create(path, kWtnsFormat, 2);
  if (!writer) return writer.error();
  writer->begin_section(kWtnsHeaderSection, kWtnsHeaderBytes);
  writer->put(static_cast<std::uint32_t>(kScalarBytes));
  with_curve(curve, [&](auto id) { writer->put(decltype(id)::type::Fr::modulus()); });
  writer->put(static_cast<std::uint32_t>(values.size()));
  writer->begin_section(kWtnsValuesSection, values.size() * kScalarBytes);
  writer->put_bytes(std::as_bytes(values));
  return writer->commit();
}

}  // namespace vitrine::engine
