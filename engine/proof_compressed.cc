// SPDX-License-Identifier: Apache-2.0
#include "engine/proof_compressed.h"

#include <algorithm>
#include <span>

namespace vitrine::engine {
namespace {

using kernels::Bls12_381;
using Fq = Bls12_381::Fq;
using Fq2 = Bls12_381::Fq2;

constexpr std::byte kCompressed{0x80};
constexpr std::byte kInfinity{0x40};
constexpr std::byte kLargerRoot{0x20};

void write_big_endian(const Fq& value, std::span<std::byte> bytes) {
  const Fq::Limbs limbs = value.to_integer();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[bytes.size() - 1 - i] = static_cast<std::byte>(limbs[i / 8] >> (8 * (i % 8)));
  }
}

void write_coordinate(const Fq& value, std::span<std::byte> bytes) {
  write_big_endian(value, bytes);
}

void write_coordinate(const Fq2& value, std::span<std::byte> bytes) {
  write_big_endian(value.c1, bytes.first(Fq::kBytes));
  write_big_endian(value.c0, bytes.last(Fq::kBytes));
}

bool is_larger_root(const Fq& y) {
  const Fq::Limbs value = y.to_integer();
  const Fq::Limbs other = (-y).to_integer();
  return std::lexicographical_compare(other.rbegin(), other.rend(), value.rbegin(), value.rend());
}

bool is_larger_root(const Fq2& y) { return is_larger_root(y.c1.is_zero() ? y.c0 : y.c1); }

template <class Bytes, class Group>
Bytes compress_point(const kernels::AffinePoint<Group>& point) {
  Bytes bytes{};
  if (point.is_infinity()) {
    bytes[0] = kCompressed | kInfinity;
    return bytes;
  }
  write_coordinate(point.x, bytes);
  bytes[0] |= kCompressed;
  if (is_larger_root(point.y)) bytes[0] |= kLargerRoot;
  return bytes;
}

}  // namespace

CompressedG1 compress(const kernels::AffinePoint<Bls12_381::G1>& point) {
  return compress_point<CompressedG1>(point);
}

CompressedG2 compress(const kernels::AffinePoint<Bls12_381::G2>& point) {
  return compress_point<CompressedG2>(point);
}

CompressedProof compress(const ProofPoints<Bls12_381>& proof) {
  CompressedProof bytes;
  auto position = bytes.begin();
  position = std::ranges::copy(compress(proof.a), position).out;
  position = std::ranges::copy(compress(proof.b), position).out;
  std::ranges::copy(compress(proof.c), position);
  return bytes;
}

}  // namespace vitrine::engine
