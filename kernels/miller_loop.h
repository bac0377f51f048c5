// SPDX-License-Identifier: Apache-2.0
// The Miller loop of an optimal ate pairing for several terms at once, and what surrounds it.
//
// For the pairing_*.cc files only. Each supplies a traits class Ate:
//   Curve, kLoopDigits      signed digits of the loop count, most significant first
//   multiply_by_line        puts a line's three coefficients where the curve's twist wants them
//   finish_loop             what follows the loop: sign of the count, extra lines
//   hard_part               the rest of the final exponentiation, from the cyclotomic subgroup
// Threads: pure functions.
// Why: homogeneous coordinates need no inversion, and all terms share the squarings of f.
// Source: Aranha, Karabina, Longa, Gebotys, Lopez, "Faster explicit formulas for computing pairings
//   over ordinary curves" (2011), section 4; Costello, Lange, Naehrig, "Faster pairing computations
//   on curves with high-degree twists" (2010).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/pairing.h"

namespace vitrine::kernels {

// Digits -1, 0, 1 of the non-adjacent form, most significant first; N must be its length.
template <std::size_t N>
consteval std::array<std::int8_t, N> non_adjacent_form(WideLimb value) {
  std::array<std::int8_t, N> digits{};
  for (std::size_t i = N; i-- > 0;) {
    if ((value & 1) == 0) {
      digits[i] = 0;
    } else {
      digits[i] = (value & 3) == 1 ? 1 : -1;
      value = digits[i] == 1 ? value - 1 : value + 1;
    }
    value >>= 1;
  }
  if (value != 0 || digits[0] != 1) throw "N is not the length of the form";
  return digits;
}

// A power by signed digits in the cyclotomic subgroup, where inverting is conjugating.
template <class Fq12, std::size_t N>
Fq12 cyclotomic_pow(const Fq12& element, const std::array<std::int8_t, N>& digits) {
  const Fq12 inverse = element.conjugated();
  Fq12 result = element;
  for (std::size_t i = 1; i < N; ++i) {
    result = result.cyclotomic_squared();
    if (digits[i] != 0) result *= digits[i] > 0 ? element : inverse;
  }
  return result;
}

// A line through points of the twist, up to a factor in Fq2, before P is put in:
// y * y_P + x * x_P + constant, on the untwisted curve times powers of w.
template <class Fq2>
struct Line {
  Fq2 y, x, constant;
};

// The moving point T of the loop, (X / Z, Y / Z) on the twist.
template <class Curve>
class MillerPoint {
 public:
  using Fq2 = typename Curve::Fq2;
  using Affine = AffinePoint<typename Curve::G2>;

  explicit MillerPoint(const Affine& q) : x_(q.x), y_(q.y), z_(Fq2::one()) {}

  // The tangent at T; T becomes 2 T. The line is scaled by 2 Y Z.
  Line<Fq2> double_step() {
    const Fq2 xy = x_ * y_;
    const Fq2 yy = y_.squared();
    const Fq2 zz = z_.squared();
    const Fq2 xx = x_.squared();
    const Fq2 bzz = zz * Curve::G2::b();
    const Fq2 bzz3 = bzz.doubled() + bzz;
    const Fq2 bzz9 = bzz3.doubled() + bzz3;
    const Fq2 yz2 = (y_ + z_).squared() - yy - zz;
    const Fq2 bzz6_squared = bzz3.doubled().squared();
    x_ = (xy * (yy - bzz9)).doubled();
    y_ = (yy + bzz9).squared() - (bzz6_squared.doubled() + bzz6_squared);
    z_ = (yy * yz2).doubled().doubled();
    return {yz2, -(xx.doubled() + xx), yy - bzz3};
  }

  // The line through T and q; T becomes T + q. The line is scaled by X - x_q Z.
  Line<Fq2> add_step(const Affine& q) {
    const Fq2 theta = y_ - q.y * z_;
    const Fq2 lambda = x_ - q.x * z_;
    const Fq2 lambda2 = lambda.squared();
    const Fq2 lambda3 = lambda2 * lambda;
    const Fq2 scaled_x = x_ * lambda2;
    const Fq2 h = lambda3 + z_ * theta.squared() - scaled_x.doubled();
    x_ = lambda * h;
    y_ = theta * (scaled_x - h) - y_ * lambda3;
    z_ = z_ * lambda3;
    return {lambda, -theta, theta * q.x - lambda * q.y};
  }

 private:
  Fq2 x_, y_, z_;
};

// One term on its way through the loop.
template <class Curve>
struct MillerTerm {
  AffinePoint<typename Curve::G1> p;
  AffinePoint<typename Curve::G2> q;
  MillerPoint<Curve> t;
};

template <class Ate>
void absorb_line(typename Ate::Curve::Fq12& f, const Line<typename Ate::Curve::Fq2>& line,
                 const AffinePoint<typename Ate::Curve::G1>& p) {
  Ate::multiply_by_line(f, {line.y * p.y, line.x * p.x, line.constant});
}

// The product of the terms' Miller functions; a term with infinity counts as one.
template <class Ate>
typename Ate::Curve::Fq12 miller_loop(std::span<const PairingTerm<typename Ate::Curve>> terms) {
  using Curve = typename Ate::Curve;
  using Fq12 = typename Curve::Fq12;
  std::vector<MillerTerm<Curve>> running;
  for (const PairingTerm<Curve>& term : terms) {
    if (term.p.is_infinity() || term.q.is_infinity()) continue;
    running.push_back({term.p, term.q, MillerPoint<Curve>(term.q)});
  }
  Fq12 f = Fq12::one();
  for (std::size_t i = 1; i < Ate::kLoopDigits.size(); ++i) {
    f = f.squared();
    const int digit = Ate::kLoopDigits[i];
    for (MillerTerm<Curve>& term : running) {
      absorb_line<Ate>(f, term.t.double_step(), term.p);
      if (digit == 0) continue;
      const auto step = digit > 0 ? term.q : term.q.negated();
      absorb_line<Ate>(f, term.t.add_step(step), term.p);
    }
  }
  Ate::finish_loop(f, std::span<MillerTerm<Curve>>(running));
  return f;
}

// f^((p^12 - 1) / r * k), k as in pairing.h; f is not zero.
template <class Ate>
typename Ate::Curve::Fq12 final_exponentiation(const typename Ate::Curve::Fq12& f) {
  const auto unitary = f.conjugated() * f.inverse();                 // f^(p^6 - 1)
  return Ate::hard_part(unitary.frobenius().frobenius() * unitary);  // ^(p^2 + 1)
}

}  // namespace vitrine::kernels
