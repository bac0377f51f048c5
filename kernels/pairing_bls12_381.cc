// SPDX-License-Identifier: Apache-2.0
// The optimal ate pairing of BLS12-381, f_{x,Q} with negative x.
// Source: Hayashida, Hayasaka, Teruya, "Efficient final exponentiation via cyclotomic structure for
//   pairings over families of elliptic curves" (2020), for the hard part.
#include <array>

#include "kernels/miller_loop.h"

namespace vitrine::kernels {
namespace {

using Fq2 = Bls12_381::Fq2;
using Fq12 = Bls12_381::Fq12;

// |x|; x itself is negative.
constexpr std::uint64_t kAbsoluteX = 0xd201000000010000;
constexpr auto kAbsoluteXDigits = non_adjacent_form<65>(kAbsoluteX);

Fq12 power_x(const Fq12& f) { return cyclotomic_pow(f, kAbsoluteXDigits).conjugated(); }

struct Bls12_381Ate {
  using Curve = Bls12_381;
  static constexpr auto kLoopDigits = kAbsoluteXDigits;

  // M-type twist, (x, y) -> (x / w^2, y / w^3): times w^3, whose powers the final exponentiation
  // sends to one, the line is constant + x w^2 + y w^3.
  static void multiply_by_line(Fq12& f, const Line<Fq2>& line) {
    const auto low = f.c0.multiplied_by_01(line.constant, line.x);
    const auto high = (f.c1 * line.y).multiplied_by_v();
    const auto cross = (f.c0 + f.c1).multiplied_by_01(line.constant, line.x + line.y);
    f = {low + high.multiplied_by_v(), cross - low - high};
  }

  // f_{-n} is 1 / f_n up to vertical lines, and the conjugate of f_n after the final
  // exponentiation.
  static void finish_loop(Fq12& f, std::span<MillerTerm<Bls12_381>>) { f = f.conjugated(); }

  // 3 (p^4 - p^2 + 1) / r = (x - 1)^2 (x + p) (x^2 + p^2 - 1) + 3.
  static Fq12 hard_part(const Fq12& f) {
    const Fq12 a = power_x(f) * f.conjugated();
    const Fq12 b = power_x(a) * a.conjugated();
    const Fq12 c = power_x(b) * b.frobenius();
    const Fq12 d = power_x(power_x(c)) * c.frobenius().frobenius() * c.conjugated();
    return d * f.cyclotomic_squared() * f;
  }
};

}  // namespace

template <>
Fq12 pairing<Bls12_381>(const AffinePoint<Bls12_381::G1>& p, const AffinePoint<Bls12_381::G2>& q) {
  const std::array<PairingTerm<Bls12_381>, 1> term = {{{p, q}}};
  return final_exponentiation<Bls12_381Ate>(miller_loop<Bls12_381Ate>(term));
}

template <>
bool pairing_product_is_one<Bls12_381>(std::span<const PairingTerm<Bls12_381>> terms) {
  return final_exponentiation<Bls12_381Ate>(miller_loop<Bls12_381Ate>(terms)).is_one();
}

}  // namespace vitrine::kernels
