// SPDX-License-Identifier: Apache-2.0
#include "engine/key_generation.h"

#include <array>
#include <bit>
#include <new>
#include <string>

#include "engine/fixed_base.h"
#include "engine/key_material.h"
#include "engine/key_polynomials.h"
#include "engine/random_scalar.h"

namespace vitrine::engine {
namespace {

template <class Fr>
struct ToxicWaste {
  Fr tau, alpha, beta, gamma, delta;
};

// tau is not in the double domain (its order does not divide that of the domain but with
// negligible probability), and nothing is zero; a division by zero would show as a key that
// verifies nothing.
template <class Fr>
Result<ToxicWaste<Fr>> draw_waste() {
  std::array<Fr, 5> secrets;
  for (Fr& secret : secrets) {
    auto drawn = random_scalar<Fr>();
    if (!drawn) return drawn.error();
    secret = *drawn;
  }
  return ToxicWaste<Fr>{secrets[0], secrets[1], secrets[2], secrets[3], secrets[4]};
}

template <class Curve>
class KeyMaker {
 public:
  using Fr = typename Curve::Fr;
  using G1 = typename Curve::G1;
  using G2 = typename Curve::G2;

  KeyMaker(const R1csShape& shape, unsigned log2_domain, const ToxicWaste<Fr>& waste,
           kernels::ThreadPool& threads)
      : shape_(shape),
        log2_domain_(log2_domain),
        waste_(waste),
        threads_(threads),
        base1_(G1::generator(), 4 * std::size_t{shape.variables}, threads),
        base2_(G2::generator(), shape.variables, threads) {}

  [[nodiscard]] KeyMaterial<Curve> make(const R1csMatrices<Fr>& matrices) const {
    const LagrangeBasis<Fr> even{log2_domain_, Fr::one(), waste_.tau, Fr::one()};
    const SignalValues<Fr> values = evaluate_signals<Fr>(shape_, matrices, even.values(threads_));
    KeyMaterial<Curve> key;
    make_header(key);
    key.points.a = base1_.multiples(values.a, threads_);
    key.points.b1 = base1_.multiples(values.b, threads_);
    key.points.b2 = base2_.multiples(values.b, threads_);
    make_linear(key, values);
    make_quotient(key);
    return key;
  }

 private:
  void make_header(KeyMaterial<Curve>& key) const {
    key.points.alpha1 = base1_.multiple(waste_.alpha).to_affine();
    key.points.beta1 = base1_.multiple(waste_.beta).to_affine();
    key.points.delta1 = base1_.multiple(waste_.delta).to_affine();
    key.points.beta2 = base2_.multiple(waste_.beta).to_affine();
    key.points.delta2 = base2_.multiple(waste_.delta).to_affine();
    key.verifying.alpha1 = key.points.alpha1;
    key.verifying.beta2 = key.points.beta2;
    key.verifying.delta2 = key.points.delta2;
    key.verifying.gamma2 = base2_.multiple(waste_.gamma).to_affine();
  }

  // (beta A_i + alpha B_i + C_i) / gamma for the public signals, / delta for the others.
  void make_linear(KeyMaterial<Curve>& key, const SignalValues<Fr>& values) const {
    const std::size_t public_count = std::size_t{shape_.public_signals()} + 1;
    const Fr over_gamma = waste_.gamma.inverse();
    const Fr over_delta = waste_.delta.inverse();
    std::vector<Fr> scalars(shape_.variables);
    for (std::size_t i = 0; i < scalars.size(); ++i) {
      const Fr sum = waste_.beta * values.a[i] + waste_.alpha * values.b[i] + values.c[i];
      scalars[i] = sum * (i < public_count ? over_gamma : over_delta);
    }
    const std::span<const Fr> all(scalars);
    const auto ic = base1_.multiples(all.first(public_count), threads_);
    key.verifying.ic.assign(ic.begin(), ic.end());
    key.points.l = base1_.multiples(all.subspan(public_count), threads_);
  }

  // The odd Lagrange polynomials of the double domain over delta. They are those of the coset of
  // the domain, times (tau^N - 1) / (x^N - 1), where x^N = -1 on the coset.
  void make_quotient(KeyMaterial<Curve>& key) const {
    const std::array<std::uint64_t, 1> size = {std::uint64_t{1} << log2_domain_};
    const Fr over_x = -Fr::from_u64(2).inverse();
    const Fr factor = (waste_.tau.pow(size) - Fr::one()) * over_x * waste_.delta.inverse();
    const LagrangeBasis<Fr> odd{log2_domain_, kernels::Domain<Fr>::root_of_unity(log2_domain_ + 1),
                                waste_.tau, factor};
    key.points.h = base1_.multiples(odd.values(threads_), threads_);
  }

  const R1csShape& shape_;
  unsigned log2_domain_;
  const ToxicWaste<Fr>& waste_;
  kernels::ThreadPool& threads_;
  FixedBase<G1> base1_;
  FixedBase<G2> base2_;
};

template <class Curve>
Result<VerifyingKey> write_key_on(const std::filesystem::path& zkey_path, const R1cs& r1cs,
                                  kernels::ThreadPool& threads) {
  using Fr = typename Curve::Fr;
  auto log2_domain = log2_domain_of(r1cs.shape);
  if (!log2_domain) return log2_domain.error();
  auto waste = draw_waste<Fr>();
  if (!waste) return waste.error();
  const auto& matrices = std::get<R1csMatrices<Fr>>(r1cs.matrices);
  KeyMaterial<Curve> key =
      KeyMaker<Curve>(r1cs.shape, *log2_domain, *waste, threads).make(matrices);
  auto written = write_zkey(zkey_path, key, r1cs.shape, matrices);
  if (!written) return written.error();
  return VerifyingKey(std::move(key.verifying));
}

}  // namespace

Result<unsigned> log2_domain_of(const R1csShape& shape) {
  // One below bn128's largest domain, whose keys have another form.
  constexpr unsigned kMaxLog2 = 27;
  const std::uint64_t rows = std::uint64_t{shape.constraints} + shape.public_signals() + 1;
  const auto log2_size = static_cast<unsigned>(std::bit_width(rows - 1));
  if (log2_size > kMaxLog2) {
    return bad_input(std::to_string(rows) +
                     " rows of constraints and public signals, expected "
                     "at most 2^" +
                     std::to_string(kMaxLog2));
  }
  return std::max(log2_size, 1U);
}

Result<VerifyingKey> write_development_key(const std::filesystem::path& zkey_path, const R1cs& r1cs,
                                           kernels::ThreadPool& threads) {
  try {
    return with_curve(curve_of(r1cs), [&](auto curve) {
      return write_key_on<typename decltype(curve)::type>(zkey_path, r1cs, threads);
    });
  } catch (const std::bad_alloc&) {
    return Error{ErrorClass::kOutOfMemory, zkey_path.string() + ": no memory to make the key"};
  }
}

}  // namespace vitrine::engine
