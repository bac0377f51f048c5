// SPDX-License-Identifier: Apache-2.0
// The optimal ate pairing of BN254, f_{6x+2,Q} with two more lines through Frobenius images.
// Source: Fuentes-Castaneda, Knapp, Rodriguez-Henriquez, "Faster hashing to G2" (2011), section 5,
//   for the hard part.
#include <array>

#include "kernels/miller_loop.h"

namespace vitrine::kernels {
namespace {

using Fq2 = Bn254::Fq2;
using Fq12 = Bn254::Fq12;

constexpr std::uint64_t kX = 4965661367192848881;
constexpr auto kXDigits = non_adjacent_form<63>(kX);

// pi(x, y) on the twist: untwist, p-th power, twist.
AffinePoint<Bn254::G2> frobenius(const AffinePoint<Bn254::G2>& q) {
  const std::array<Fq2, 6>& power = Bn254Tower::frobenius_coefficients();
  return {q.x.conjugated() * power[2], q.y.conjugated() * power[3]};
}

Fq12 power_x(const Fq12& f) { return cyclotomic_pow(f, kXDigits); }

struct Bn254Ate {
  using Curve = Bn254;
  static constexpr auto kLoopDigits = non_adjacent_form<66>(static_cast<WideLimb>(kX) * 6 + 2);

  // D-type twist, (x, y) -> (x w^2, y w^3): the line is y + x w + constant w^3.
  static void multiply_by_line(Fq12& f, const Line<Fq2>& line) {
    const auto low = f.c0 * line.y;
    const auto high = f.c1.multiplied_by_01(line.x, line.constant);
    const auto cross = (f.c0 + f.c1).multiplied_by_01(line.y + line.x, line.constant);
    f = {low + high.multiplied_by_v(), cross - low - high};
  }

  static void finish_loop(Fq12& f, std::span<MillerTerm<Bn254>> terms) {
    for (MillerTerm<Bn254>& term : terms) {
      const auto q1 = frobenius(term.q);
      const auto q2 = frobenius(q1);
      absorb_line<Bn254Ate>(f, term.t.add_step(q1), term.p);
      absorb_line<Bn254Ate>(f, term.t.add_step(q2.negated()), term.p);
    }
  }

  // f^(1 + 6x + 12x^2 + 12x^3 + (4x + 6x^2 + 12x^3) p + (6x + 6x^2 + 12x^3) p^2 +
  //    (-1 + 4x + 6x^2 + 12x^3) p^3).
  static Fq12 hard_part(const Fq12& f) {
    const Fq12 f_2x = power_x(f).cyclotomic_squared();
    const Fq12 f_6x = f_2x.cyclotomic_squared() * f_2x;
    const Fq12 f_6x2 = power_x(f_6x);
    const Fq12 f_12x3 = power_x(f_6x2.cyclotomic_squared());
    const Fq12 a = f_12x3 * f_6x2 * f_6x;
    const Fq12 b = a * f_2x.conjugated();
    const Fq12 p3_part = (b * f.conjugated()).frobenius();
    const Fq12 p2_part = (a * p3_part).frobenius();
    const Fq12 p1_part = (b * p2_part).frobenius();
    return a * f_6x2 * f * p1_part;
  }
};

}  // namespace

template <>
Fq12 pairing<Bn254>(const AffinePoint<Bn254::G1>& p, const AffinePoint<Bn254::G2>& q) {
  const std::array<PairingTerm<Bn254>, 1> term = {{{p, q}}};
  return final_exponentiation<Bn254Ate>(miller_loop<Bn254Ate>(term));
}

template <>
bool pairing_product_is_one<Bn254>(std::span<const PairingTerm<Bn254>> terms) {
  return final_exponentiation<Bn254Ate>(miller_loop<Bn254Ate>(terms)).is_one();
}

}  // namespace vitrine::kernels
