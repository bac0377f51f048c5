// SPDX-License-Identifier: Apache-2.0
// Number-theoretic transforms over the scalar fields: a polynomial's coefficients to its values at
// the N-th roots of unity and back, N = 2^k.
//
// Layout: twiddle b is w^reversed(b), b < N / 2, w of order N, bits of b reversed. A table for N
//   begins with the table for N / 2. No second table for the inverse: see reflect_and_scale.
// Threads: a Domain is immutable once built. One call changes only the span it is given and shares
//   its work over the pool.
// Cost: (N / 2) log2 N multiplications less about one in eight, because block 0 has twiddle one.
// Why: natural order to bit-reversed order (`decimate`, Cooley-Tukey butterflies) and back
//   (`recombine`, its transpose, Gentleman-Sande) use one twiddle per block, so inner loops run
//   through memory in order, halves are independent and fit the cache by recursion. Pairing the two
//   in move_to_coset needs no bit reversal at all.
// Source: Cooley, Tukey, "An algorithm for the machine calculation of complex Fourier series"
//   (1965); Gentleman, Sande, "Fast Fourier transforms - for fun and profit" (1966).
#pragma once

#include <bit>
#include <cstddef>
#include <span>
#include <vector>

#include "kernels/bls12_381.h"
#include "kernels/bn254.h"
#include "kernels/thread_pool.h"

namespace vitrine::kernels {

template <class Fr>
class Domain {
 public:
  // 2^kMaxLog2 is the largest power of two that divides r - 1.
  static constexpr unsigned kMaxLog2 =
      static_cast<unsigned>(std::countr_zero(Fr::modulus()[0] - 1));

  // log2_size <= kMaxLog2. Takes N / 2 field elements of memory.
  Domain(unsigned log2_size, ThreadPool& pool);

  std::size_t size() const { return std::size_t{1} << log2_size_; }

  // In all of these values.size() == size(), natural order in and out.
  // Coefficients c to values: values[i] = sum over k of c[k] w^(i k).
  void forward(std::span<Fr> values, ThreadPool& pool) const;
  // The opposite of forward, division by N included.
  void inverse(std::span<Fr> values, ThreadPool& pool) const;
  // Values at w^i to values of the same polynomial at shift w^i: inverse, scale_by_powers and
  // forward in one.
  void move_to_coset(std::span<Fr> values, const Fr& shift, ThreadPool& pool) const;

  // A root of order 2^log2_order, log2_order <= kMaxLog2: powers of 5^((r - 1) / 2^kMaxLog2) on
  // both curves, as snarkjs chooses it; keys hold for no other choice.
  static Fr root_of_unity(unsigned log2_order);

 private:
  void decimate(std::span<Fr> values, ThreadPool& pool) const;
  void recombine(std::span<Fr> values, ThreadPool& pool) const;
  void bit_reverse(std::span<Fr> values, ThreadPool& pool) const;

  unsigned log2_size_;
  std::vector<Fr> twiddles_;
};

// values[k] *= factor^k.
template <class Fr>
void scale_by_powers(std::span<Fr> values, const Fr& factor, ThreadPool& pool);

extern template class Domain<Bn254::Fr>;
extern template class Domain<Bls12_381::Fr>;
extern template void scale_by_powers(std::span<Bn254::Fr>, const Bn254::Fr&, ThreadPool&);
extern template void scale_by_powers(std::span<Bls12_381::Fr>, const Bls12_381::Fr&, ThreadPool&);

}  // namespace vitrine::kernels
