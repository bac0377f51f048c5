// SPDX-License-Identifier: Apache-2.0
// A snarkjs `.zkey`: reads and checks one, and holds it in the form the prover works on.
//
// Layout: 30-kernels "Formats": the SRS points as arrays, the constraint matrices A and B (the PCE)
// as CSR. C is not stored; c = a∘b.
// Threads: a loaded key is immutable and shared; loading uses the pool given.
// Cost: the file is read once (its coefficient section twice) straight into the final arrays, so
// the peak is the key itself plus chunk buffers of a few MiB.
// Why: a key is hostile input. Every size is checked before its memory is allocated and every point
// before it is used, because a point off the curve leaks the witness through the proof.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "engine/curve_id.h"
#include "engine/error.h"
#include "engine/large_vector.h"
#include "engine/load_progress.h"
#include "engine/proof.h"
#include "kernels/curve_point.h"
#include "kernels/thread_pool.h"

namespace vitrine::engine {

// What the header of a key says: enough to budget for it before it is loaded.
struct KeyShape {
  CurveId curve = CurveId::kBn254;
  std::uint32_t variables = 0;          // length of the witness, w[0] = 1 included
  std::uint32_t public_inputs = 0;      // outputs included
  std::uint32_t domain_size = 0;        // a power of two, at least the number of constraints
  std::uint64_t coefficients = 0;       // non-zero entries of A and B together
  std::uint64_t points_bytes = 0;       // the SRS in memory
  std::uint64_t constraints_bytes = 0;  // the PCE in memory

  bool operator==(const KeyShape&) const = default;
};

// One matrix in compressed rows: row i holds entries [row_begin[i], row_begin[i + 1]).
// Values are coefficient x R^2, so that one Montgomery multiply by the witness' canonical integer
// gives the product in Montgomery form.
template <class Fr>
struct ConstraintMatrix {
  LargeVector<std::uint32_t> row_begin;  // domain_size + 1
  LargeVector<std::uint32_t> signals;
  LargeVector<Fr> values;
};

// The SRS: the arrays the five MSMs run over.
template <class Curve>
struct ProvingPoints {
  using G1Point = kernels::AffinePoint<typename Curve::G1>;
  using G2Point = kernels::AffinePoint<typename Curve::G2>;
  G1Point alpha1, beta1, delta1;
  G2Point beta2, delta2;
  LargeVector<G1Point> a, b1;  // variables
  LargeVector<G2Point> b2;     // variables
  LargeVector<G1Point> l;      // variables - public_inputs - 1
  LargeVector<G1Point> h;      // domain_size
};

template <class Curve>
struct CurveKey {
  ProvingPoints<Curve> points;
  ConstraintMatrix<typename Curve::Fr> a, b;
};

struct ProvingKey {
  KeyShape shape;
  VerifyingKey verifying_key;
  std::variant<CurveKey<kernels::Bn254>, CurveKey<kernels::Bls12_381>> tables;
};

struct ProvingKeyOptions {
  bool insecure = false;    // accept a key without a phase-2 contribution (gamma2 == delta2)
  std::string digest = {};  // SHA-256 that the file must have, in hexadecimal; empty: any
  // Called on the loading thread, a few times a second.
  std::function<void(const LoadedBytes&)> progress = {};
};

// Reads and checks the whole key. Errors: kBadInput naming file, section, rule, expected and
// actual; kOutOfMemory. Threads: any; uses `threads`.
[[nodiscard]] Result<std::shared_ptr<const ProvingKey>> load_proving_key(
    const std::filesystem::path& path, const ProvingKeyOptions& options,
    kernels::ThreadPool& threads);

// All that load_proving_key() checks, in a few MiB of memory and without keeping anything; answers
// the SHA-256 of the file. Errors and threads: as there.
[[nodiscard]] Result<std::string> verify_proving_key(const std::filesystem::path& path,
                                                     const ProvingKeyOptions& options,
                                                     kernels::ThreadPool& threads);

// Reads and checks the header and the section table only: cheap, for admission and budgets.
[[nodiscard]] Result<KeyShape> probe_proving_key(const std::filesystem::path& path);

enum class KeyTrust { kContributed, kInsecure };

// The same, and the header's points: also cheap, and all that a load finds wrong before the tables.
[[nodiscard]] Result<KeyShape> check_proving_key_header(const std::filesystem::path& path,
                                                        KeyTrust trust);

}  // namespace vitrine::engine
