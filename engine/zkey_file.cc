// SPDX-License-Identifier: Apache-2.0
#include "engine/zkey_file.h"

#include <array>
#include <bit>
#include <cassert>
#include <string>

#include "engine/byte_reader.h"

namespace vitrine::engine {
namespace {

constexpr std::uint32_t number(ZkeySection section) { return static_cast<std::uint32_t>(section); }

// 2^28 on bn128. On bls12381 the field would allow 2^32, but an MSM takes less than 2^31 terms.
constexpr unsigned max_log2_domain(CurveId curve) { return curve == CurveId::kBn254 ? 28 : 30; }
constexpr std::uint32_t kMaxVariables = (std::uint32_t{1} << 31) - 1;

Result<std::uint32_t> read_u32(const BinaryContainer& container, const ContainerSection& section) {
  std::array<std::byte, 4> bytes;
  if (section.length_bytes < bytes.size()) {
    return container.section_error(section.type, "has " + std::to_string(section.length_bytes) +
                                                     " bytes, expected at least 4");
  }
  if (auto done = container.read(section, 0, bytes); !done) return done.error();
  return ByteReader(bytes).take<std::uint32_t>();
}

Result<void> check_protocol(const BinaryContainer& container) {
  auto section = container.section_of_length(number(ZkeySection::kProtocol), 4);
  if (!section) return section.error();
  auto protocol = read_u32(container, *section);
  if (!protocol) return protocol.error();
  if (*protocol != kGroth16Protocol) {
    return container.section_error(
        section->type, "protocol " + std::to_string(*protocol) + ", expected 1 (groth16)");
  }
  return {};
}

Result<void> check_counts(const BinaryContainer& container, const KeyShape& shape) {
  const auto error = [&](const std::string& rule) {
    return container.section_error(number(ZkeySection::kHeader), rule);
  };
  if (shape.variables <= shape.public_inputs) {
    return error(std::to_string(shape.variables) + " variables, expected more than the " +
                 std::to_string(shape.public_inputs) + " public inputs");
  }
  if (shape.variables > kMaxVariables) {
    return error(std::to_string(shape.variables) + " variables, expected at most " +
                 std::to_string(kMaxVariables));
  }
  const unsigned max_log2 = max_log2_domain(shape.curve);
  if (!std::has_single_bit(shape.domain_size) || shape.domain_size < 2 ||
      shape.domain_size > std::uint32_t{1} << max_log2) {
    return error("domain size " + std::to_string(shape.domain_size) +
                 ", expected a power of two from 2 to 2^" + std::to_string(max_log2));
  }
  return {};
}

template <class Curve>
Result<KeyShape> read_numbers(const BinaryContainer& container, const ContainerSection& header) {
  using Fq = typename Curve::Fq;
  using Fr = typename Curve::Fr;
  std::array<std::byte, kZkeyNumbersBytes<Curve>> bytes;
  if (auto done = container.read(header, 0, bytes); !done) return done.error();
  ByteReader reader(bytes);
  const auto coordinate_bytes = reader.take<std::uint32_t>();
  const auto coordinate_prime = reader.take<typename Fq::Limbs>();
  const auto scalar_bytes = reader.take<std::uint32_t>();
  const auto scalar_prime = reader.take<typename Fr::Limbs>();
  if (coordinate_bytes != Fq::kBytes || coordinate_prime != Fq::modulus()) {
    return container.section_error(header.type,
                                   "coordinate field is not that of " + std::string(Curve::kName));
  }
  if (scalar_bytes != kScalarBytes || scalar_prime != Fr::modulus()) {
    return container.section_error(header.type,
                                   "scalar field is not that of " + std::string(Curve::kName));
  }
  KeyShape shape;
  shape.curve = kCurveId<Curve>;
  shape.variables = reader.take<std::uint32_t>();
  shape.public_inputs = reader.take<std::uint32_t>();
  shape.domain_size = reader.take<std::uint32_t>();
  if (auto checked = check_counts(container, shape); !checked) return checked.error();
  return shape;
}

Result<KeyShape> read_header_numbers(const BinaryContainer& container) {
  auto header = container.section(number(ZkeySection::kHeader));
  if (!header) return header.error();
  auto coordinate_bytes = read_u32(container, *header);
  if (!coordinate_bytes) return coordinate_bytes.error();
  for (CurveId id : {CurveId::kBn254, CurveId::kBls12_381}) {
    Result<KeyShape> shape = with_curve(id, [&](auto curve) -> Result<KeyShape> {
      using Curve = typename decltype(curve)::type;
      if (*coordinate_bytes != Curve::Fq::kBytes) return KeyShape{};
      auto sized = container.section_of_length(header->type, kZkeyHeaderBytes<Curve>);
      if (!sized) return sized.error();
      return read_numbers<Curve>(container, *sized);
    });
    if (!shape || shape->variables != 0) return shape;
  }
  return container.section_error(header->type, "coordinates of " +
                                                   std::to_string(*coordinate_bytes) +
                                                   " bytes, expected 32 (bn128) or 48 (bls12381)");
}

// All products are of a 32-bit count and a small constant, so 64 bits hold them.
template <class Curve>
Result<std::uint64_t> check_point_sections(const BinaryContainer& container,
                                           const KeyShape& shape) {
  const std::uint64_t g1 = kPointBytes<typename Curve::G1>;
  const std::uint64_t g2 = kPointBytes<typename Curve::G2>;
  const std::uint64_t variables = shape.variables;
  const std::uint64_t public_inputs = shape.public_inputs;
  const std::pair<ZkeySection, std::uint64_t> lengths[] = {
      {ZkeySection::kIc, (public_inputs + 1) * g1},
      {ZkeySection::kA, variables * g1},
      {ZkeySection::kB1, variables * g1},
      {ZkeySection::kB2, variables * g2},
      {ZkeySection::kL, (variables - public_inputs - 1) * g1},
      {ZkeySection::kH, shape.domain_size * g1},
  };
  std::uint64_t total = 0;
  for (const auto& [section, length] : lengths) {
    auto found = container.section_of_length(number(section), length);
    if (!found) return found.error();
    total += length;
  }
  return total;
}

Result<std::uint64_t> read_coefficient_count(const BinaryContainer& container) {
  auto section = container.section(number(ZkeySection::kCoefficients));
  if (!section) return section.error();
  auto count = read_u32(container, *section);
  if (!count) return count.error();
  const std::uint64_t expected = 4 + std::uint64_t{*count} * kCoefficientBytes;
  if (section->length_bytes != expected) {
    return container.section_error(section->type,
                                   "says " + std::to_string(*count) + " coefficients, which take " +
                                       std::to_string(expected) + " bytes, but has " +
                                       std::to_string(section->length_bytes));
  }
  return std::uint64_t{*count};
}

}  // namespace

Result<ZkeyFile> ZkeyFile::open(const std::filesystem::path& path) {
  auto container = BinaryContainer::open(path, kZkeyFormat);
  if (!container) return container.error();
  if (auto protocol = check_protocol(*container); !protocol) return protocol.error();
  auto shape = read_header_numbers(*container);
  if (!shape) return shape.error();
  auto points_bytes = with_curve(shape->curve, [&](auto curve) {
    return check_point_sections<typename decltype(curve)::type>(*container, *shape);
  });
  if (!points_bytes) return points_bytes.error();
  auto coefficients = read_coefficient_count(*container);
  if (!coefficients) return coefficients.error();
  shape->points_bytes = *points_bytes;
  shape->coefficients = *coefficients;
  shape->constraints_bytes = shape->coefficients * (sizeof(std::uint32_t) + kScalarBytes) +
                             2 * (std::uint64_t{shape->domain_size} + 1) * sizeof(std::uint32_t);
  return ZkeyFile{std::move(*container), *shape};
}

ContainerSection ZkeyFile::section(ZkeySection type) const {
  auto found = container.section(number(type));
  assert(found.has_value());
  return *found;
}

Result<KeyShape> probe_proving_key(const std::filesystem::path& path) {
  auto file = ZkeyFile::open(path);
  if (!file) return file.error();
  return file->shape;
}

}  // namespace vitrine::engine
