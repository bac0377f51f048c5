// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string_view>

#include "engine/byte_reader.h"
#include "engine/container_writer.h"
#include "engine/key_material.h"
#include "engine/zkey_file.h"

namespace vitrine::engine {
namespace {

constexpr std::string_view kContributor = "INSECURE development key: toxic waste is known";
constexpr std::size_t kHashBytes = 64;

template <class Curve>
class ZkeyWriter {
 public:
  using Fr = typename Curve::Fr;
  using G1 = typename Curve::G1;
  using G2 = typename Curve::G2;

  ZkeyWriter(ContainerWriter& out, const KeyMaterial<Curve>& key, const R1csShape& shape)
      : out_(out), key_(key), shape_(shape) {}

  void put_all(const R1csMatrices<Fr>& matrices) {
    begin(ZkeySection::kProtocol, 4);
    out_.put(kGroth16Protocol);
    put_header();
    put_points<G1>(ZkeySection::kIc, key_.verifying.ic);
    put_coefficients(matrices);
    put_points<G1>(ZkeySection::kA, key_.points.a);
    put_points<G1>(ZkeySection::kB1, key_.points.b1);
    put_points<G2>(ZkeySection::kB2, key_.points.b2);
    put_points<G1>(ZkeySection::kL, key_.points.l);
    put_points<G1>(ZkeySection::kH, key_.points.h);
    put_contributions();
  }

 private:
  void begin(ZkeySection section, std::uint64_t length_bytes) {
    out_.begin_section(static_cast<std::uint32_t>(section), length_bytes);
  }

  void put_header() {
    begin(ZkeySection::kHeader, kZkeyHeaderBytes<Curve>);
    out_.put(static_cast<std::uint32_t>(Curve::Fq::kBytes));
    out_.put(Curve::Fq::modulus());
    out_.put(static_cast<std::uint32_t>(kScalarBytes));
    out_.put(Fr::modulus());
    out_.put(shape_.variables);
    out_.put(shape_.public_signals());
    out_.put(static_cast<std::uint32_t>(key_.points.h.size()));
    out_.put_montgomery(key_.points.alpha1);
    out_.put_montgomery(key_.points.beta1);
    out_.put_montgomery(key_.points.beta2);
    out_.put_montgomery(key_.verifying.gamma2);
    out_.put_montgomery(key_.points.delta1);
    out_.put_montgomery(key_.points.delta2);
  }

  template <class Group>
  void put_points(ZkeySection section, std::span<const kernels::AffinePoint<Group>> points) {
    begin(section, points.size() * kPointBytes<Group>);
    for (const auto& point : points) out_.put_montgomery(point);
  }

  // The constraints' entries, then a row of A for every public signal and the constant: they keep
  // the public signals' polynomials independent.
  void put_coefficients(const R1csMatrices<Fr>& matrices) {
    const std::uint32_t public_rows = shape_.public_signals() + 1;
    const auto count = static_cast<std::uint32_t>(matrices.a.signals.size() +
                                                  matrices.b.signals.size() + public_rows);
    begin(ZkeySection::kCoefficients, 4 + count * kCoefficientBytes);
    out_.put(count);
    for (std::uint32_t row = 0; row < shape_.constraints; ++row) {
      put_row(0, row, matrices.a);
      put_row(1, row, matrices.b);
    }
    for (std::uint32_t signal = 0; signal < public_rows; ++signal) {
      put_coefficient({0, shape_.constraints + signal, signal}, Fr::one());
    }
  }

  void put_row(std::uint32_t number, std::uint32_t row, const ConstraintMatrix<Fr>& matrix) {
    for (std::uint32_t i = matrix.row_begin[row]; i < matrix.row_begin[row + 1]; ++i) {
      put_coefficient({number, row, matrix.signals[i]}, matrix.values[i]);
    }
  }

  // `place` is matrix, constraint, signal. The value is written times R^2: its Montgomery form
  // times R again.
  void put_coefficient(const std::array<std::uint32_t, 3>& place, const Fr& value) {
    out_.put(place);
    out_.put((value * r_).montgomery());
  }

  // One contribution whose proofs are placeholders: `snarkjs zkey verify` refuses it, as it should.
  void put_contributions() {
    constexpr std::size_t kPointsBytes = 3 * kPointBytes<G1> + kPointBytes<G2>;
    constexpr std::size_t kParametersBytes = 2 + kContributor.size();
    begin(ZkeySection::kContributions,
          kHashBytes + 4 + kPointsBytes + kHashBytes + 4 + 4 + kParametersBytes);
    out_.put(std::array<std::byte, kHashBytes>{});
    out_.put(std::uint32_t{1});
    out_.put_montgomery(key_.points.delta1);
    out_.put_montgomery(G1::generator());
    out_.put_montgomery(G1::generator());
    out_.put_montgomery(G2::generator());
    out_.put(std::array<std::byte, kHashBytes>{});
    out_.put(std::uint32_t{0});  // a contribution by a person, not a beacon
    out_.put(static_cast<std::uint32_t>(kParametersBytes));
    out_.put(std::uint8_t{1});  // parameter 1 is the name
    out_.put(static_cast<std::uint8_t>(kContributor.size()));
    out_.put_bytes(std::as_bytes(std::span(kContributor)));
  }

  ContainerWriter& out_;
  const KeyMaterial<Curve>& key_;
  const R1csShape& shape_;
  const Fr r_ = Fr::from_integer(Fr::one().montgomery());
};

}  // namespace

template <class Curve>
Result<void> write_zkey(const std::filesystem::path& path, const KeyMaterial<Curve>& key,
                        const R1csShape& shape, const R1csMatrices<typename Curve::Fr>& matrices) {
  auto writer = ContainerWriter::create(path, kZkeyFormat, 10);
  if (!writer) return writer.error();
  ZkeyWriter<Curve>(*writer, key, shape).put_all(matrices);
  return writer->commit();
}

template Result<void> write_zkey(const std::filesystem::path&, const KeyMaterial<kernels::Bn254>&,
                                 const R1csShape&, const R1csMatrices<kernels::Bn254::Fr>&);
template Result<void> write_zkey(const std::filesystem::path&,
                                 const KeyMaterial<kernels::Bls12_381>&, const R1csShape&,
                                 const R1csMatrices<kernels::Bls12_381::Fr>&);

}  // namespace vitrine::engine
